//! Folders of other versions of the program: what both programs do about them.

use crate::Home;

/// Makes files of folders those of a later and of an earlier version, one at a time: going on is refused in one line, the
/// file is left as it is, and once it is as it was the run goes on. A later version may have keys that mean something
/// else, an earlier one may lack some: neither is guessed at.
pub fn other_versions_are_refused(home: &Home, files: &[&str]) {
    for file in files {
        let (folder, _) = file.split_once('/').expect("a file in a folder");
        let text = home.read(file);
        for other in [
            text.replace("format = 1", "format = 2\nsomething = \"new\""),
            text.replace("format = 1", "format = 0"),
        ] {
            assert_ne!(text, other, "{file}");
            home.write(file, &other);
            let ran = home.run(&format!("resume {folder} --quiet"));
            assert_eq!((ran.code, ran.stderr.lines().count()), (2, 1), "{file}: {}", ran.stderr);
            assert!(ran.stderr.contains("another version") && ran.stderr.contains(file), "{}", ran.stderr);
            assert_eq!(home.read(file), other, "{file} is left as it is");
        }
        home.write(file, &text);
        let ran = home.run(&format!("resume {folder} --quiet"));
        assert_eq!(ran.code, 0, "{file}: {}", ran.stderr);
    }
}
