//! The workloads that can be driven. Each is a module of its own that implements
//! [`Params`](contract::Params) and [`Workload`](contract::Workload); a line below registers it.
//!
//! What a workload says differently to a system, it has beside its other statements; the wires
//! translate only what is true of every statement.

pub mod contract;
pub mod point_select;
pub mod script;
pub mod tpcc;

use dyno_record::Result;
use serde::Deserialize;

use contract::{Params as _, Workload};

/// Does something with whichever workload a plan names, compiled for each of them.
pub(crate) trait Visitor {
    /// What comes of it.
    type Output;

    /// Does it.
    ///
    /// # Errors
    /// Its own.
    fn visit<W: Workload + Clone>(self, workload: &W) -> Result<Self::Output>;
}

macro_rules! registry {
    ($($(#[$doc:meta])* $name:ident: $params:ty,)*) => {
        /// A workload with its parameters.
        #[derive(Debug, Clone, PartialEq, Deserialize)]
        #[serde(
            tag = "kind", content = "params", rename_all = "snake_case", deny_unknown_fields
        )]
        pub enum WorkloadPlan {
            $($(#[$doc])* $name($params),)*
        }

        impl WorkloadPlan {
            /// Makes the workload and has it visited.
            ///
            /// # Errors
            /// `usage` for parameters that make no sense, naming the field; the visitor's.
            pub(crate) fn visit<V: Visitor>(&self, seed: u64, visitor: V) -> Result<V::Output> {
                match self {
                    $(Self::$name(params) => visitor.visit(&params.workload(seed)?),)*
                }
            }
        }
    };
}

registry! {
    /// Derived from TPC-C.
    Tpcc: tpcc::Params,
    /// One row by its key, over and over: the plainest load there is, to compare drivers by.
    PointSelect: point_select::PointSelect,
    /// Operations as a list of statements with drawn inputs.
    Script: script::Script,
}
