//! Fast against naive, and every promise of the updater.

mod metric;
mod updater;
