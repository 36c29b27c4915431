//! From a specification to the grid on which its windows lie.

use crate::error::{Error, Result};
use crate::plan::WindowSpec;
use crate::time::Grid;

/// `None` for windows that are not on a grid.
///
/// # Errors
/// Internal for sizes below 1, which the front end refuses.
pub(super) fn grid_of(window: &WindowSpec) -> Result<Option<Grid>> {
    let (size, slide, offset, cumulates) = match *window {
        WindowSpec::Tumble { size_ms, offset_ms } => (size_ms, size_ms, offset_ms, false),
        WindowSpec::Hop { size_ms, slide_ms, offset_ms } => (size_ms, slide_ms, offset_ms, false),
        WindowSpec::Cumulate { size_ms, step_ms, offset_ms } => (size_ms, step_ms, offset_ms, true),
        WindowSpec::Session { .. } | WindowSpec::Attached { .. } => return Ok(None),
    };
    if size < 1 || slide < 1 || (cumulates && size % slide != 0) {
        return Err(Error::internal(format!("a window of {size} ms every {slide} ms")));
    }
    Ok(Some(if cumulates { Grid::cumulating(size, slide, offset) } else { Grid::sliding(size, slide, offset) }))
}
