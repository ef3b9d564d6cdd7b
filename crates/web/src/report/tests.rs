use super::*;

/// Runs of one search whose scores are given, with seeds from 1 on.
fn runs(home: &Path, folder: &str, level: u32, scores: &[f64], seconds: f64) {
    runs_of("leftmove/60", home, folder, level, scores, seconds);
}

fn runs_of(instance: &str, home: &Path, folder: &str, level: u32, scores: &[f64], seconds: f64) {
    for (i, score) in scores.iter().enumerate() {
        let path = home.join(folder).join(format!("s{i}"));
        std::fs::create_dir_all(&path).unwrap();
        let spec = format!(
            "format = 1\ninstance = \"{instance}\"\nseed = {}\nstreams = 1\n[search]\nname = \"nrpa\"\nlevel = {level}\n",
            i + 1
        );
        std::fs::write(path.join("spec.toml"), spec).unwrap();
        let events = format!(
            "{{\"event\":\"improved\",\"seconds\":0.1,\"score\":1,\"playouts\":1}}\n\
             {{\"event\":\"progress\",\"seconds\":1,\"playouts\":10,\"best\":{score}}}\n\
             {{\"event\":\"finished\",\"seconds\":{seconds},\"playouts\":20,\"score\":{score},\"reason\":\"time\"}}\n"
        );
        std::fs::write(path.join("events.jsonl"), events).unwrap();
    }
}

#[test]
fn seeds_are_grouped_and_shown() {
    let home = tempfile::tempdir().unwrap();
    runs(home.path(), "a", 2, &[10.0, 12.0, 14.0], 2.0);
    runs(home.path(), "b", 3, &[20.0, 22.0, 24.0], 2.0);
    std::fs::create_dir_all(home.path().join("c")).unwrap();
    std::fs::write(home.path().join("c/match.toml"), "").unwrap();
    let report = gather(&[home.path().to_path_buf(), home.path().join("nowhere")], None);
    assert_eq!(report.groups.len(), 2);
    assert_eq!(report.groups[0].band().last().unwrap().1[1], 12.0);
    let second = &report.groups[1];
    assert_eq!(Row::of(second, None).cells(second, None)[..2], ["3".to_string(), "22".to_string()]);
    assert_eq!(report.left_out.len(), 2, "{:?}", report.left_out);
    let html = report.html("today");
    assert!(html.contains("<svg") && html.contains("nrpa level 2") && !html.contains("<script"), "{html}");
    assert!(!html.contains("src=") && !html.contains("href="), "it stands alone");
    assert!(report.markdown().contains("| nrpa level 3 | 3 | 22 |"), "{}", report.markdown());
    assert_eq!(report.to_json()["groups"][0]["members"].as_array().unwrap().len(), 3);
    assert_eq!(gather(&[home.path().join("a")], Some(0.5)).groups[0].scores(Some(0.5)), [1.0, 1.0, 1.0]);
}

#[test]
fn routes_are_told_in_vehicles_and_distance() {
    let home = tempfile::tempdir().unwrap();
    runs_of("vrptw/R101", home.path(), "a", 2, &[-211_800.5, -191_762.42, -191_650.8], 2.0);
    runs_of("vrptw/R101", home.path(), "b", 3, &[-201_700.0, -191_650.8], 2.0);
    let report = gather(&[home.path().to_path_buf()], None);
    let (text, page) = (report.markdown(), report.html("today"));
    for told in [
        "Best known: 19 vehicles, distance 1650.80",
        "| 19 vehicles, distance 1762.42 |",
        "| 6.8 % |",
        "| 1 vehicle |",
    ] {
        assert!(text.contains(told), "{told}: {text}");
    }
    assert!(text.contains("19.67 vehicles") && !text.contains("difference of the medians"), "{text}");
    for raw in ["191762", "-19", "-20", "-21"] {
        assert!(!text.contains(raw) && !page.contains(&format!(">{raw}")), "{raw}: {text}");
    }
}

#[test]
fn differences_are_called_real_only_when_they_are() {
    let home = tempfile::tempdir().unwrap();
    let at = |name: &str| home.path().join(name);
    runs(home.path(), "a", 2, &[10.0, 11.0, 12.0, 13.0, 14.0], 2.0);
    runs(home.path(), "b", 3, &[20.0, 21.0, 22.0, 23.0, 24.0], 4.0);
    runs(home.path(), "same", 4, &[10.5, 11.5, 12.5, 12.9, 13.5], 2.0);
    runs(home.path(), "few", 5, &[30.0, 31.0], 2.0);
    let better = compare(&at("a"), &at("b"), None).unwrap();
    assert_eq!(better.real(), Some(true));
    assert!(
        better.sentence().contains("is better") && better.sentence().contains("different times"),
        "{better:?}"
    );
    assert_eq!(compare(&at("a"), &at("b"), Some(1.5)).unwrap().notes.len(), 0);
    assert_eq!(compare(&at("a"), &at("same"), None).unwrap().real(), Some(false));
    let few = compare(&at("few"), &at("few"), None).unwrap();
    assert_eq!(few.real(), None, "two of each cannot tell: {}", few.sentence());
    assert!(compare(&at("a"), &at("none"), None).unwrap_err().contains("no such folder"));
    assert!(compare(&at("a"), home.path(), None).unwrap_err().contains("seed alone"));
}
