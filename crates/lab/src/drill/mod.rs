//! Whether what must hold does, tried at random.

pub mod disk;
pub mod machine;
pub mod resume;
pub mod schedules;
