//! Whether what must hold does, tried at random.

pub mod resume;
pub mod schedules;
