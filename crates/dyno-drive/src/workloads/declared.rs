//! Declares statements with their positions: the constants and the list cannot differ.

/// Makes a [`StatementId`](crate::wire::StatementId) of each name, and `FIXED`, the list of names,
/// texts, parameter types and result types in the same order.
macro_rules! statements {
    ($($(#[$doc:meta])* $id:ident = $name:literal, $sql:literal, $params:expr => $returns:expr;)*) => {
        #[allow(non_camel_case_types, clippy::upper_case_acronyms)]
        #[repr(u16)]
        enum Position { $($id,)* }
        $($(#[$doc])* pub const $id: $crate::wire::StatementId =
            $crate::wire::StatementId(Position::$id as u16);)*
        const FIXED: &[(&str, &str, &[$crate::wire::Type], &[$crate::wire::Type])] =
            &[$(($name, $sql, $params, $returns),)*];
    };
}

pub(super) use statements;
