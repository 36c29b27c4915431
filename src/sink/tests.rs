//! What the sinks leave behind, and that nothing shows before the commit.
