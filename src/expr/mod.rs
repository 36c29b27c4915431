//! Typed scalar expressions: built by the SQL binder, evaluated in batches by shards.
//!
//! The builders in [`resolve`] apply Flink's typing rules and give back an [`Expr`] whose types are
//! settled; [`Expr::eval`] computes it over a record batch. Nothing here knows about SQL text.

pub mod eval;
pub mod resolve;
pub mod scalar;

use crate::types::DataType;
pub use eval::EvalContext;
pub use scalar::Scalar;

#[cfg(test)]
mod tests;

/// A scalar expression with all types settled. Columns are addressed by their index in the input batch.
#[derive(Debug, Clone, PartialEq)]
pub enum Expr {
    Column {
        index: usize,
        data_type: DataType,
    },
    Literal {
        value: Scalar,
        data_type: DataType,
    },
    /// A function, operator or conditional; `function` names one of the kernels in [`eval`].
    Call {
        function: eval::Function,
        args: Vec<Expr>,
        data_type: DataType,
    },
    /// `safe`: TRY_CAST, which gives NULL where CAST fails the job.
    Cast {
        input: Box<Expr>,
        data_type: DataType,
        safe: bool,
    },
    /// Branches are (condition, value); evaluated only for rows that reach them.
    Case {
        branches: Vec<(Expr, Expr)>,
        otherwise: Box<Expr>,
        data_type: DataType,
    },
}

impl Expr {
    pub fn column(index: usize, data_type: DataType) -> Self {
        Expr::Column { index, data_type }
    }
    pub fn literal(value: Scalar, data_type: DataType) -> Self {
        Expr::Literal { value, data_type }
    }
    pub fn data_type(&self) -> &DataType {
        match self {
            Expr::Column { data_type, .. }
            | Expr::Literal { data_type, .. }
            | Expr::Call { data_type, .. }
            | Expr::Cast { data_type, .. }
            | Expr::Case { data_type, .. } => data_type,
        }
    }

    /// Direct sub-expressions, left to right.
    pub fn children(&self) -> Vec<&Expr> {
        match self {
            Expr::Column { .. } | Expr::Literal { .. } => Vec::new(),
            Expr::Call { args, .. } => args.iter().collect(),
            Expr::Cast { input, .. } => vec![input],
            Expr::Case { branches, otherwise, .. } => {
                branches.iter().flat_map(|(when, then)| [when, then]).chain([otherwise.as_ref()]).collect()
            }
        }
    }

    fn children_mut(&mut self) -> Vec<&mut Expr> {
        match self {
            Expr::Column { .. } | Expr::Literal { .. } => Vec::new(),
            Expr::Call { args, .. } => args.iter_mut().collect(),
            Expr::Cast { input, .. } => vec![input],
            Expr::Case { branches, otherwise, .. } => {
                branches.iter_mut().flat_map(|(when, then)| [when, then]).chain([otherwise.as_mut()]).collect()
            }
        }
    }

    /// Calls `visit` with the index of every column that the expression reads.
    pub fn for_each_column(&self, visit: &mut dyn FnMut(usize)) {
        if let Expr::Column { index, .. } = self {
            visit(*index);
        }
        for child in self.children() {
            child.for_each_column(visit);
        }
    }

    /// Renumbers the columns that the expression reads.
    pub fn map_columns(&mut self, map: &dyn Fn(usize) -> usize) {
        if let Expr::Column { index, .. } = self {
            *index = map(*index);
        }
        for child in self.children_mut() {
            child.map_columns(map);
        }
    }

    /// Replaces every column by an expression: `inputs[index]`. For merging two projections into one.
    pub fn substitute(&self, inputs: &[Expr]) -> Expr {
        if let Expr::Column { index, .. } = self {
            return inputs[*index].clone();
        }
        let mut expr = self.clone();
        for child in expr.children_mut() {
            *child = child.substitute(inputs);
        }
        expr
    }
}
