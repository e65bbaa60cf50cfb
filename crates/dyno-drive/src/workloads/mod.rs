//! The OLTP workloads. Each is a module that implements [`Params`](contract::Params) and
//! [`Workload`](contract::Workload); a line below registers it.
//!
//! A workload has its dialect-specific statements next to the others; the wires translate only what
//! applies to every statement.

pub mod brokerage;
pub mod contract;
mod declared;
pub mod mode;
pub mod point_select;
pub mod script;
pub mod tpcc;

use dyno_record::Result;
use serde::Deserialize;

use contract::{Params as _, Workload};

/// Calls a generic function with the workload that a plan names.
pub(crate) trait Visitor {
    /// The result.
    type Output;

    /// Visits the workload.
    ///
    /// # Errors
    /// The visitor's.
    fn visit<W: Workload + Clone>(self, workload: &W) -> Result<Self::Output>;
}

macro_rules! registry {
    ($($(#[$doc:meta])* $name:ident: $params:ty,)*) => {
        /// A workload and its parameters.
        #[derive(Debug, Clone, PartialEq, Deserialize)]
        #[serde(
            tag = "kind", content = "params", rename_all = "snake_case", deny_unknown_fields
        )]
        pub enum WorkloadPlan {
            $($(#[$doc])* $name($params),)*
        }

        impl WorkloadPlan {
            /// Builds the workload and visits it.
            ///
            /// # Errors
            /// `usage` for invalid parameters, with the name of the field; the visitor's.
            pub(crate) fn visit<V: Visitor>(&self, seed: u64, visitor: V) -> Result<V::Output> {
                match self {
                    $(Self::$name(params) => visitor.visit(&params.workload(seed)?),)*
                }
            }
        }
    };
}

registry! {
    /// Derived from TPC-E.
    Brokerage: brokerage::Params,
    /// Derived from TPC-C.
    Tpcc: tpcc::Params,
    /// One row by its key, repeatedly: the simplest load, for comparing drivers.
    PointSelect: point_select::PointSelect,
    /// Operations as lists of statements with random inputs.
    Script: script::Script,
}
