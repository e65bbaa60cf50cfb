//! The statements of the transactions, over the published names of tables and columns.

use crate::wire::{Statement, Type};
use crate::workloads::declared::{statements, statements_of};

const INT: Type = Type::Int;
const LONG: Type = Type::BigInt;
const TEXT: Type = Type::Text;
const MONEY: Type = Type::Decimal(2);
/// Tax rates.
const RATE: Type = Type::Decimal(5);
const DATE: Type = Type::Date;
const TIME: Type = Type::Timestamp;

/// Names of brokers in a Broker-Volume.
pub const BROKERS: usize = 30;

statements! {
    /// Clean-up: pending limit orders count as submitted.
    SUBMIT_PENDING = "submit_pending",
        "insert into trade_history (th_t_id, th_dts, th_st_id) \
         select t_id, case when t_dts > $1 then t_dts else $1 end, 'SBMT' \
         from trade where t_id in (select tr_t_id from trade_request)",
        &[TIME] => &[];
    /// Clean-up: limit orders are cancelled, in their history.
    RECORD_REQUESTED = "record_requested",
        "insert into trade_history (th_t_id, th_dts, th_st_id) \
         select t_id, case when t_dts > $1 then t_dts else $1 end, 'CNCL' \
         from trade where t_id in (select tr_t_id from trade_request)",
        &[TIME] => &[];
    /// Clean-up: limit orders are cancelled.
    CANCEL_REQUESTED = "cancel_requested",
        "update trade set t_st_id = 'CNCL', \
         t_dts = case when t_dts > $1 then t_dts else $1 end \
         where t_id in (select tr_t_id from trade_request)",
        &[TIME] => &[];
    /// Clean-up: forgets limit orders.
    FORGET_REQUESTS = "forget_requests", "delete from trade_request", &[] => &[];
    /// Clean-up: trades without a result are cancelled, in their history.
    RECORD_CANCELLED = "record_cancelled",
        "insert into trade_history (th_t_id, th_dts, th_st_id) \
         select t_id, case when t_dts > $1 then t_dts else $1 end, 'CNCL' \
         from trade where t_id > $2 and t_st_id in ('SBMT', 'PNDG')",
        &[TIME, LONG] => &[];
    /// Clean-up: trades without a result are cancelled.
    CANCEL = "cancel",
        "update trade set t_st_id = 'CNCL', \
         t_dts = case when t_dts > $1 then t_dts else $1 end \
         where t_id > $2 and t_st_id in ('SBMT', 'PNDG')",
        &[TIME, LONG] => &[];
    /// Number of the last trade.
    LAST_TRADE = "last_trade", "select max(t_id) from trade", &[] => &[LONG];

    /// Broker-Volume: value of the open limit orders of some brokers in a sector.
    BROKER_VOLUME = "broker_volume",
        "select b_name, sum(tr_qty * tr_bid_price) from trade_request \
         join broker on b_id = tr_b_id \
         join security on s_symb = tr_s_symb join company on co_id = s_co_id \
         join industry on in_id = co_in_id join sector on sc_id = in_sc_id \
         where sc_name = $1 and b_name in ($2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, \
         $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28, $29, $30, $31) \
         group by b_name order by 2 desc",
        &[TEXT; BROKERS + 1] => &[TEXT, MONEY];

    /// Customer-Position: a customer by tax number.
    CUSTOMER_OF_TAX = "customer_of_tax",
        "select c_id from customer where c_tax_id = $1",
        &[TEXT] => &[LONG];
    /// Customer-Position: the customer.
    CUSTOMER = "customer",
        "select c_st_id, c_l_name, c_f_name, c_m_name, c_gndr, c_tier, c_dob, c_ad_id, c_ctry_1, \
         c_area_1, c_local_1, c_ext_1, c_ctry_2, c_area_2, c_local_2, c_ext_2, c_ctry_3, c_area_3, \
         c_local_3, c_ext_3, c_email_1, c_email_2, c_tax_id from customer where c_id = $1",
        &[LONG] => &[TEXT, TEXT, TEXT, TEXT, TEXT, INT, DATE, LONG, TEXT, TEXT, TEXT, TEXT, TEXT,
            TEXT, TEXT, TEXT, TEXT, TEXT, TEXT, TEXT, TEXT, TEXT, TEXT];
    /// Customer-Position: the accounts with their cash and the value of their securities.
    ASSETS = "assets",
        "select ca_id, ca_bal, coalesce(sum(hs_qty * lt_price), 0) from customer_account \
         left join holding_summary on hs_ca_id = ca_id \
         left join last_trade on lt_s_symb = hs_s_symb \
         where ca_c_id = $1 group by ca_id, ca_bal order by 3 limit 10",
        &[LONG] => &[LONG, MONEY, MONEY];
    /// Customer-Position: history of an account's last ten trades.
    RECENT_HISTORY = "recent_history",
        "select t_id, t_s_symb, t_qty, st_name, th_dts from \
         (select t_id as id from trade where t_ca_id = $1 order by t_dts desc limit 10) as latest \
         join trade on t_id = id join trade_history on th_t_id = t_id \
         join status_type on st_id = th_st_id order by th_dts desc limit 30",
        &[LONG] => &[LONG, TEXT, INT, TEXT, TIME];

    /// Market-Feed: a price.
    RECORD_PRICE = "record_price",
        "update last_trade set lt_price = $1, lt_vol = lt_vol + $2, lt_dts = $3 \
         where lt_s_symb = $4",
        &[MONEY, INT, TIME, TEXT] => &[];
    /// Market-Feed: limit orders that a price triggers. Their rows stay locked, so that two feeds
    /// do not submit one order twice.
    TRIGGERED = "triggered",
        "select tr_t_id from trade_request where tr_s_symb = $1 and (\
         (tr_tt_id in ('TSL', 'TLB') and tr_bid_price >= $2) or \
         (tr_tt_id = 'TLS' and tr_bid_price <= $2)) for update",
        &[TEXT, MONEY] => &[LONG];
    /// Market-Feed: submits a limit order. It may have begun after this feed, or after the first of
    /// its attempts.
    SUBMIT = "submit",
        "update trade set t_dts = case when t_dts > $1 then t_dts else $1 end, t_st_id = 'SBMT' \
         where t_id = $2",
        &[TIME, LONG] => &[];
    /// Market-Feed: a limit order is submitted, in its history.
    RECORD_SUBMITTED = "record_submitted",
        "insert into trade_history (th_t_id, th_dts, th_st_id) \
         select t_id, t_dts, 'SBMT' from trade where t_id = $1",
        &[LONG] => &[];
    /// Market-Feed: forgets a limit order.
    FORGET_REQUEST = "forget_request",
        "delete from trade_request where tr_t_id = $1",
        &[LONG] => &[];

    /// Market-Watch: value of the securities on a customer's watch list, on a day and now.
    WATCHED = "watched",
        "select coalesce(sum(s_num_out * dm_close), 0), coalesce(sum(s_num_out * lt_price), 0) \
         from watch_list join watch_item on wi_wl_id = wl_id join security on s_symb = wi_s_symb \
         join last_trade on lt_s_symb = s_symb \
         join daily_market on dm_s_symb = s_symb and dm_date = $2 where wl_c_id = $1",
        &[LONG, DATE] => &[MONEY, MONEY];
    /// Market-Watch: value of the securities in an account, on a day and now.
    HELD_THEN = "held_then",
        "select coalesce(sum(s_num_out * dm_close), 0), coalesce(sum(s_num_out * lt_price), 0) \
         from holding_summary join security on s_symb = hs_s_symb \
         join last_trade on lt_s_symb = s_symb \
         join daily_market on dm_s_symb = s_symb and dm_date = $2 where hs_ca_id = $1",
        &[LONG, DATE] => &[MONEY, MONEY];
    /// Market-Watch: value of the securities of an industry's companies, on a day and now.
    INDUSTRY_THEN = "industry_then",
        "select coalesce(sum(s_num_out * dm_close), 0), coalesce(sum(s_num_out * lt_price), 0) \
         from industry join company on co_in_id = in_id join security on s_co_id = co_id \
         join last_trade on lt_s_symb = s_symb \
         join daily_market on dm_s_symb = s_symb and dm_date = $2 \
         where in_name = $1 and co_id >= $3 and co_id <= $4",
        &[TEXT, DATE, LONG, LONG] => &[MONEY, MONEY];

    /// Security-Detail: the security, its company and exchange, with their addresses.
    DETAIL = "detail",
        "select s_name, s_num_out, s_start_date, s_exch_date, s_pe, s_52wk_high, s_52wk_high_date, \
         s_52wk_low, s_52wk_low_date, s_dividend, s_yield, co_id, co_name, co_sp_rate, co_ceo, \
         co_desc, co_open_date, co_st_id, ca.ad_line1, ca.ad_line2, zca.zc_town, zca.zc_div, \
         ca.ad_zc_code, ca.ad_ctry, ex_name, ex_num_symb, ex_open, ex_close, ex_desc, \
         ea.ad_line1, ea.ad_line2, zea.zc_town, zea.zc_div, ea.ad_zc_code, ea.ad_ctry \
         from security join company on co_id = s_co_id join address ca on ca.ad_id = co_ad_id \
         join zip_code zca on zca.zc_code = ca.ad_zc_code join exchange on ex_id = s_ex_id \
         join address ea on ea.ad_id = ex_ad_id join zip_code zea on zea.zc_code = ea.ad_zc_code \
         where s_symb = $1",
        &[TEXT] => &[TEXT, LONG, DATE, DATE, MONEY, MONEY, DATE, MONEY, DATE, MONEY, MONEY, LONG,
            TEXT, TEXT, TEXT, TEXT, DATE, TEXT, TEXT, TEXT, TEXT, TEXT, TEXT, TEXT, TEXT, INT, INT,
            INT, TEXT, TEXT, TEXT, TEXT, TEXT, TEXT, TEXT];
    /// Security-Detail: competitors of the company.
    COMPETITORS = "competitors",
        "select co_name, in_name from security join company_competitor on cp_co_id = s_co_id \
         join company on co_id = cp_comp_co_id join industry on in_id = cp_in_id \
         where s_symb = $1 limit 3",
        &[TEXT] => &[TEXT, TEXT];
    /// Security-Detail: quarterly figures of the company.
    FINANCIALS = "financials",
        "select fi_year, fi_qtr, fi_revenue, fi_net_earn, fi_basic_eps, fi_dilut_eps, fi_margin, \
         fi_inventory, fi_assets, fi_liability, fi_out_basic, fi_out_dilut \
         from security join financial on fi_co_id = s_co_id \
         where s_symb = $1 order by fi_year, fi_qtr limit 20",
        &[TEXT] => &[INT, INT, MONEY, MONEY, MONEY, MONEY, MONEY, MONEY, MONEY, MONEY, LONG, LONG];
    /// Security-Detail: prices by day.
    DAYS = "days",
        "select dm_date, dm_close, dm_high, dm_low, dm_vol from daily_market \
         where dm_s_symb = $1 and dm_date >= $2 order by dm_date limit 20",
        &[TEXT, DATE] => &[DATE, MONEY, MONEY, MONEY, LONG];
    /// Security-Detail: the last price.
    PRICE = "price",
        "select lt_price, lt_open_price, lt_vol from last_trade where lt_s_symb = $1",
        &[TEXT] => &[MONEY, MONEY, LONG];
    /// Security-Detail: two news items with their text.
    NEWS = "news",
        "select ni_item, ni_dts, ni_source, ni_author from security \
         join news_xref on nx_co_id = s_co_id join news_item on ni_id = nx_ni_id \
         where s_symb = $1 limit 2",
        &[TEXT] => &[TEXT, TIME, TEXT, TEXT];
    /// Security-Detail: two news items without it.
    HEADLINES = "headlines",
        "select ni_headline, ni_summary, ni_dts, ni_source, ni_author from security \
         join news_xref on nx_co_id = s_co_id join news_item on ni_id = nx_ni_id \
         where s_symb = $1 limit 2",
        &[TEXT] => &[TEXT, TEXT, TIME, TEXT, TEXT];

    /// Trade-Lookup and Trade-Update: a trade.
    TRADE = "trade",
        "select t_id, t_bid_price, t_exec_name, t_is_cash, tt_is_mrkt, t_trade_price from trade \
         join trade_type on tt_id = t_tt_id where t_id = $1",
        &[LONG] => &[LONG, MONEY, TEXT, INT, INT, MONEY];
    /// Trade-Lookup and Trade-Update: an account's trades from one time to another.
    TRADES_OF_ACCOUNT = "trades_of_account",
        "select t_id, t_bid_price, t_exec_name, t_is_cash, t_trade_price from trade \
         where t_ca_id = $1 and t_dts >= $2 and t_dts <= $3 order by t_dts limit 20",
        &[LONG, TIME, TIME] => &[LONG, MONEY, TEXT, INT, MONEY];
    /// Trade-Lookup and Trade-Update: trades of a security from one time to another.
    TRADES_OF_SECURITY = "trades_of_security",
        "select t_id, t_ca_id, t_exec_name, t_is_cash, t_trade_price, t_qty, t_dts, t_tt_id, \
         tt_name, s_name from trade join trade_type on tt_id = t_tt_id \
         join security on s_symb = t_s_symb \
         where t_s_symb = $1 and t_dts >= $2 and t_dts <= $3 order by t_dts limit 20",
        &[TEXT, TIME, TIME] => &[LONG, LONG, TEXT, INT, MONEY, INT, TIME, TEXT, TEXT, TEXT];
    /// Trade-Lookup: an account's first trade from a time on.
    FIRST_TRADE = "first_trade",
        "select t_id from trade where t_ca_id = $1 and t_dts >= $2 order by t_dts limit 1",
        &[LONG, TIME] => &[LONG];
    /// Trade-Lookup: what became of the holdings that a trade changed.
    HOLDINGS_OF_TRADE = "holdings_of_trade",
        "select hh_h_t_id, hh_t_id, hh_before_qty, hh_after_qty from holding_history \
         where hh_h_t_id in (select hh_h_t_id from holding_history where hh_t_id = $1) limit 20",
        &[LONG] => &[LONG, LONG, INT, INT];
    /// Trade-Lookup and Trade-Update: a trade's settlement.
    SETTLEMENT = "settlement",
        "select se_amt, se_cash_due_date, se_cash_type from settlement where se_t_id = $1",
        &[LONG] => &[MONEY, DATE, TEXT];
    /// Trade-Lookup and Trade-Update: a trade's payment.
    CASH = "cash",
        "select ct_amt, ct_dts, ct_name from cash_transaction where ct_t_id = $1",
        &[LONG] => &[MONEY, TIME, TEXT];
    /// Trade-Lookup and Trade-Update: a trade's history.
    HISTORY = "history",
        "select th_dts, th_st_id from trade_history where th_t_id = $1 order by th_dts limit 3",
        &[LONG] => &[TIME, TEXT];

    /// Trade-Update: who executed a trade.
    RENAME_EXECUTOR = "rename_executor",
        "update trade set t_exec_name = $1 where t_id = $2",
        &[TEXT, LONG] => &[];
    /// Trade-Update: how a trade is settled.
    RETYPE_SETTLEMENT = "retype_settlement",
        "update settlement set se_cash_type = $1 where se_t_id = $2",
        &[TEXT, LONG] => &[];
    /// Trade-Update: what a payment was for.
    RENAME_CASH = "rename_cash",
        "update cash_transaction set ct_name = $1 where ct_t_id = $2",
        &[TEXT, LONG] => &[];

    /// Trade-Status: an account's last trades.
    STATUS_OF_TRADES = "status_of_trades",
        "select t_id, t_dts, st_name, tt_name, t_s_symb, t_qty, t_exec_name, t_chrg, s_name, \
         ex_name from trade join status_type on st_id = t_st_id \
         join trade_type on tt_id = t_tt_id join security on s_symb = t_s_symb \
         join exchange on ex_id = s_ex_id where t_ca_id = $1 order by t_dts desc limit 50",
        &[LONG] => &[LONG, TIME, TEXT, TEXT, TEXT, INT, TEXT, MONEY, TEXT, TEXT];
    /// Trade-Status: an account's owner and broker.
    OWNER = "owner",
        "select c_l_name, c_f_name, b_name from customer_account \
         join customer on c_id = ca_c_id join broker on b_id = ca_b_id where ca_id = $1",
        &[LONG] => &[TEXT, TEXT, TEXT];

    /// Trade-Order: an account with its owner and broker.
    ACCOUNT = "account",
        "select ca_name, ca_b_id, ca_c_id, ca_tax_st, ca_bal, b_name, c_tier, c_f_name, c_l_name, \
         c_tax_id from customer_account join broker on b_id = ca_b_id \
         join customer on c_id = ca_c_id where ca_id = $1",
        &[LONG] => &[TEXT, LONG, LONG, INT, MONEY, TEXT, INT, TEXT, TEXT, TEXT];
    /// Trade-Order: who may trade for an account; its owner is one of them.
    PERMISSIONS = "permissions",
        "select ap_acl, ap_f_name, ap_l_name, ap_tax_id from account_permission \
         where ap_ca_id = $1 order by ap_tax_id",
        &[LONG] => &[TEXT, TEXT, TEXT, TEXT];
    /// Trade-Order: an account's securities, with their prices.
    HELD = "held",
        "select hs_s_symb, hs_qty, lt_price from holding_summary \
         join last_trade on lt_s_symb = hs_s_symb where hs_ca_id = $1 order by hs_s_symb",
        &[LONG] => &[TEXT, INT, MONEY];
    /// Trade-Order: a security by its symbol.
    SECURITY = "security",
        "select s_symb, s_name, s_ex_id, co_name, lt_open_price from security \
         join company on co_id = s_co_id join last_trade on lt_s_symb = s_symb where s_symb = $1",
        &[TEXT] => &[TEXT, TEXT, TEXT, TEXT, MONEY];
    /// Trade-Order: a security by its company and issue.
    SECURITY_OF_COMPANY = "security_of_company",
        "select s_symb, s_name, s_ex_id, co_name, lt_price from company \
         join security on s_co_id = co_id join last_trade on lt_s_symb = s_symb \
         where co_name = $1 and s_issue = $2",
        &[TEXT, TEXT] => &[TEXT, TEXT, TEXT, TEXT, MONEY];
    /// Trade-Order: whether a kind of trade is at the market's price, and sells.
    KIND = "kind",
        "select tt_is_mrkt, tt_is_sell from trade_type where tt_id = $1",
        &[TEXT] => &[INT, INT];
    /// Trade-Order: the charge for a trade.
    CHARGE = "charge",
        "select ch_chrg from charge where ch_tt_id = $1 and ch_c_tier = $2",
        &[TEXT, INT] => &[MONEY];
    /// Trade-Order and Trade-Result: the commission on a trade, in percent.
    COMMISSION = "commission",
        "select cr_rate from commission_rate join security on s_ex_id = cr_ex_id \
         where s_symb = $1 and cr_c_tier = $2 and cr_tt_id = $3 and cr_from_qty <= $4 \
         and cr_to_qty >= $4",
        &[TEXT, INT, TEXT, INT] => &[MONEY];
    /// Trade-Order and Trade-Result: a customer's tax rate.
    TAX_RATE = "tax_rate",
        "select coalesce(sum(tx_rate), 0) from customer_taxrate join taxrate on tx_id = cx_tx_id \
         where cx_c_id = $1",
        &[LONG] => &[RATE];
    /// Trade-Order and Trade-Result: an account's holdings of a security, the oldest first.
    HOLDINGS = "holdings",
        "select h_t_id, h_qty, h_price from holding where h_ca_id = $1 and h_s_symb = $2 \
         order by h_dts, h_t_id",
        &[LONG, TEXT] => &[LONG, INT, MONEY];
    /// Trade-Order: the trade.
    INSERT_TRADE = "insert_trade",
        "insert into trade (t_id, t_dts, t_st_id, t_tt_id, t_is_cash, t_s_symb, t_qty, \
         t_bid_price, t_ca_id, t_exec_name, t_trade_price, t_chrg, t_comm, t_tax, t_lifo) \
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, null, $11, $12, 0, $13)",
        &[LONG, TIME, TEXT, TEXT, INT, TEXT, INT, MONEY, LONG, TEXT, MONEY, MONEY, INT] => &[];
    /// Trade-Order: a limit order.
    INSERT_REQUEST = "insert_request",
        "insert into trade_request (tr_t_id, tr_tt_id, tr_s_symb, tr_qty, tr_bid_price, tr_b_id) \
         values ($1, $2, $3, $4, $5, $6)",
        &[LONG, TEXT, TEXT, INT, MONEY, LONG] => &[];
    /// A status of a trade.
    INSERT_HISTORY = "insert_history",
        "insert into trade_history (th_t_id, th_dts, th_st_id) values ($1, $2, $3)",
        &[LONG, TIME, TEXT] => &[];

    /// Trade-Result: locks the account, so that results of one account follow each other.
    LOCK_ACCOUNT = "lock_account",
        "select ca_bal from customer_account where ca_id = $1 for update",
        &[LONG] => &[MONEY];
    /// Trade-Result: the trade.
    RESULT_OF = "result_of",
        "select t_tt_id, t_s_symb, t_qty, t_chrg, t_lifo, t_is_cash, t_st_id, tt_name, tt_is_sell, \
         tt_is_mrkt, s_name from trade join trade_type on tt_id = t_tt_id \
         join security on s_symb = t_s_symb where t_id = $1",
        &[LONG] => &[TEXT, TEXT, INT, MONEY, INT, INT, TEXT, TEXT, INT, INT, TEXT];
    /// Trade-Result: shares of a security in an account.
    HELD_SHARES = "held_shares",
        "select hs_qty from holding_summary where hs_ca_id = $1 and hs_s_symb = $2",
        &[LONG, TEXT] => &[INT];
    /// Trade-Result: shares of a security that the account had none of.
    INSERT_SUMMARY = "insert_summary",
        "insert into holding_summary (hs_qty, hs_ca_id, hs_s_symb) values ($1, $2, $3)",
        &[INT, LONG, TEXT] => &[];
    /// Trade-Result: shares of a security.
    UPDATE_SUMMARY = "update_summary",
        "update holding_summary set hs_qty = $1 where hs_ca_id = $2 and hs_s_symb = $3",
        &[INT, LONG, TEXT] => &[];
    /// Trade-Result: no shares of a security are left.
    DELETE_SUMMARY = "delete_summary",
        "delete from holding_summary where hs_ca_id = $1 and hs_s_symb = $2",
        &[LONG, TEXT] => &[];
    /// Trade-Result: a holding's change.
    INSERT_HOLDING_HISTORY = "insert_holding_history",
        "insert into holding_history (hh_h_t_id, hh_t_id, hh_before_qty, hh_after_qty) \
         values ($1, $2, $3, $4)",
        &[LONG, LONG, INT, INT] => &[];
    /// Trade-Result: a holding is left with shares.
    UPDATE_HOLDING = "update_holding",
        "update holding set h_qty = $1 where h_t_id = $2",
        &[INT, LONG] => &[];
    /// Trade-Result: a holding ends.
    DELETE_HOLDING = "delete_holding",
        "delete from holding where h_t_id = $1",
        &[LONG] => &[];
    /// Trade-Result: a holding begins.
    INSERT_HOLDING = "insert_holding",
        "insert into holding (h_t_id, h_ca_id, h_s_symb, h_dts, h_price, h_qty) \
         values ($1, $2, $3, $4, $5, $6)",
        &[LONG, LONG, TEXT, TIME, MONEY, INT] => &[];
    /// Trade-Result: the trade is complete.
    COMPLETE = "complete",
        "update trade set t_comm = $1, t_tax = $2, t_dts = $3, t_st_id = 'CMPT', \
         t_trade_price = $4 where t_id = $5",
        &[MONEY, MONEY, TIME, MONEY, LONG] => &[];
    /// Trade-Result: the broker's commission.
    EARN = "earn",
        "update broker set b_comm_total = b_comm_total + $1, b_num_trades = b_num_trades + 1 \
         where b_id = $2",
        &[MONEY, LONG] => &[];
    /// Trade-Result: the settlement.
    INSERT_SETTLEMENT = "insert_settlement",
        "insert into settlement (se_t_id, se_cash_type, se_cash_due_date, se_amt) \
         values ($1, $2, $3, $4)",
        &[LONG, TEXT, DATE, MONEY] => &[];
    /// Trade-Result: changes the account's cash.
    PAY = "pay",
        "update customer_account set ca_bal = ca_bal + $1 where ca_id = $2",
        &[MONEY, LONG] => &[];
    /// Trade-Result: the payment.
    INSERT_CASH = "insert_cash",
        "insert into cash_transaction (ct_t_id, ct_dts, ct_amt, ct_name) values ($1, $2, $3, $4)",
        &[LONG, TIME, MONEY, TEXT] => &[];

    /// Data-Maintenance: what somebody may do with an account.
    MAINTAIN_ACCOUNT_PERMISSION = "maintain_account_permission",
        "update account_permission \
         set ap_acl = case when ap_acl = '1111' then '0011' else '1111' end where ap_ca_id = $1",
        &[LONG] => &[];
    /// Data-Maintenance: a customer's address.
    MAINTAIN_ADDRESS = "maintain_address",
        "update address set ad_line2 = \
         case when ad_line2 = 'Apt. 10C' then 'Apt. 22' else 'Apt. 10C' end \
         where ad_id in (select c_ad_id from customer where c_id = $1)",
        &[LONG] => &[];
    /// Data-Maintenance: the rating of a company.
    MAINTAIN_COMPANY = "maintain_company",
        "update company set co_sp_rate = case when co_sp_rate = 'ABA' then 'AAA' else 'ABA' end \
         where co_id = $1",
        &[LONG] => &[];
    /// Data-Maintenance: an address for electronic mail.
    MAINTAIN_CUSTOMER = "maintain_customer",
        "update customer set c_email_2 = case when c_email_2 = c_email_1 \
         then concat('second-', c_email_1) else c_email_1 end where c_id = $1",
        &[LONG] => &[];
    /// Data-Maintenance: a customer's tax rates, each with another of the same country or division.
    TAX_RATES_OF = "tax_rates_of",
        "select cx_tx_id, tx_id from customer_taxrate join taxrate \
         on substr(tx_id, 1, 2) = substr(cx_tx_id, 1, 2) and tx_id <> cx_tx_id \
         where cx_c_id = $1 and tx_id not in \
         (select other.cx_tx_id from customer_taxrate other where other.cx_c_id = $1) \
         order by cx_tx_id, tx_id limit 1",
        &[LONG] => &[TEXT, TEXT];
    /// Data-Maintenance: a customer's tax rate.
    MAINTAIN_CUSTOMER_TAXRATE = "maintain_customer_taxrate",
        "update customer_taxrate set cx_tx_id = $1 where cx_c_id = $2 and cx_tx_id = $3",
        &[TEXT, LONG, TEXT] => &[];
    /// Data-Maintenance: the volume of a day.
    MAINTAIN_DAILY_MARKET = "maintain_daily_market",
        "update daily_market set dm_vol = dm_vol + 1 where dm_s_symb = $1 and dm_date = $2",
        &[TEXT, DATE] => &[];
    /// Data-Maintenance: the description of an exchange.
    MAINTAIN_EXCHANGE = "maintain_exchange",
        "update exchange set ex_desc = case when ex_desc = ex_name then 'An exchange' \
         else ex_name end where ex_id in (select s_ex_id from security where s_symb = $1)",
        &[TEXT] => &[];
    /// Data-Maintenance: the start of a company's first quarter.
    MAINTAIN_FINANCIAL = "maintain_financial",
        "update financial set fi_qtr_start_date = $2 where fi_co_id = $1 and fi_qtr = 1",
        &[LONG, DATE] => &[];
    /// Data-Maintenance: the time of a company's news.
    MAINTAIN_NEWS_ITEM = "maintain_news_item",
        "update news_item set ni_dts = $1 \
         where ni_id in (select nx_ni_id from news_xref where nx_co_id = $2)",
        &[TIME, LONG] => &[];
    /// Data-Maintenance: since when a security is traded at its exchange.
    MAINTAIN_SECURITY = "maintain_security",
        "update security set s_exch_date = $1 where s_symb = $2",
        &[DATE, TEXT] => &[];
    /// Data-Maintenance: names of a customer's tax rates.
    MAINTAIN_TAXRATE = "maintain_taxrate",
        "update taxrate set tx_name = case when tx_name = upper(tx_name) then lower(tx_name) \
         else upper(tx_name) end \
         where tx_id in (select cx_tx_id from customer_taxrate where cx_c_id = $1)",
        &[LONG] => &[];
    /// Data-Maintenance: what a customer watches.
    WATCHED_SYMBOLS = "watched_symbols",
        "select wi_wl_id, wi_s_symb from watch_list join watch_item on wi_wl_id = wl_id \
         where wl_c_id = $1 order by wi_wl_id, wi_s_symb",
        &[LONG] => &[LONG, TEXT];
    /// Data-Maintenance: watches another security.
    MAINTAIN_WATCH_ITEM = "maintain_watch_item",
        "update watch_item set wi_s_symb = $1 where wi_wl_id = $2 and wi_s_symb = $3",
        &[TEXT, LONG, TEXT] => &[];
}

/// All statements, in the order of their positions.
pub fn all() -> Vec<Statement> {
    statements_of(FIXED).collect()
}
