//! The first screens: `sortie --help` and `sortie solve --help`, each on 24 lines of 80 columns. `--help-all` shows all that
//! can be typed, as clap writes it from the definitions.

use std::ffi::OsString;

/// `sortie --help`.
const COMMAND: &str = "\
Monte-Carlo search for puzzles, routing and games.   sortie COMMAND [OPTIONS]

  sortie solve samegame/1      a good first minute
  sortie list                  what there is to solve, play and search with

Solve   solve    search for the best solution     resume   go on with a run
        campaign many instances, one budget       convert  records of others
        verify   check records and proofs         show     a record as text, SVG
Play    play     against the engine               analyse  the best moves
        match    players against each other       review   a game, move by move
        tune     a player's parameters            replay   a record step by step
        engine   for other programs (UCI, GTP)    probe    an engine of others
Prove   prove    who wins, with a proof           db       proved positions
Look    serve    runs in the browser, live        report   about runs, as a file
        compare  two sets of runs                 list     domains and searches
Many    broker   the job engine of a grid         worker   do the jobs of others
Own     new      a crate with your own problem    gauntlet named opponents
Tools   doctor   what this machine has            completions, man, schema

`sortie COMMAND --help` tells more of one, `sortie --help-all` of everything.
Exit codes: 0 done, 1 not found or not verified, 2 misuse.";

/// `sortie solve --help`.
const SOLVE: &str = "\
Search for the best solution of an instance.   sortie solve INSTANCE [OPTIONS]

  sortie solve samegame/1                          a minute, what pays here
  sortie solve morpion/5D --time 10m --seed 7 --out runs/hunt
  sortie solve vrptw/R101 vrptw/C104 --seeds 10 --time 20s     a table of runs
  sortie solve samegame/1 --search nrpa --level 3  a search of the papers

End      --time 20s    --cpu-time 20s    --playouts N    --target SCORE
         --patience N  playouts without an improvement   [default: a minute]
Search   --search NAME auto, nrpa, hd-nrpa, beam-nrpa, nmcs, beam, own, sample
         --level L --iterations N --alpha A --width W --improve ...
Machine  --threads T   [all]     --best-of M   independent searches   [threads]
         --parallel shared:L     one search on several threads
Keep     --out DIR     the run folder   [a new one under runs/]   --seed S
Tell     --json   one object            -q, --quiet   only the result

An instance is domain/name or domain/path/to/file: see `sortie list`.
The same seed, search, --best-of and --playouts give the same moves.
Ctrl-C ends the run with the best so far; `sortie resume` goes on with it.

`sortie solve --help-all` tells of all options.
Exit codes: 0 done, 1 the --target was not reached, 2 misuse.";

/// What is to be printed at once, if the words ask for one of these screens; otherwise the words that clap is to read.
pub fn screen(words: Vec<OsString>) -> Result<&'static str, Vec<OsString>> {
    let asks = |word: &OsString| word == "--help" || word == "-h";
    match &words[..] {
        [_, word] if asks(word) || word == "help" => Ok(COMMAND),
        [_, command, word] if command == "solve" && asks(word) => Ok(SOLVE),
        _ => {
            let all = |word: OsString| if word == "--help-all" { "--help".into() } else { word };
            Err(words.into_iter().map(all).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Cli;
    use clap::CommandFactory;

    fn words(text: &str) -> Vec<OsString> {
        text.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn a_screen_is_a_screen() {
        for text in [COMMAND, SOLVE] {
            assert!(text.lines().count() <= 24, "{} lines", text.lines().count());
            for line in text.lines() {
                assert!(line.chars().count() <= 80, "{line}");
            }
        }
    }

    #[test]
    fn every_command_and_no_other_is_on_the_first_screen() {
        let command = Cli::command();
        let said: Vec<&str> = COMMAND.split([' ', '\n', ',']).collect();
        for inner in command.get_subcommands().filter(|inner| !inner.is_hide_set()) {
            let networks = ["data", "train", "exit"].contains(&inner.get_name());
            assert!(networks || said.contains(&inner.get_name()), "{}", inner.get_name());
        }
    }

    #[test]
    fn every_option_of_the_screen_of_solve_is_one() {
        let command = Cli::command();
        let solve = command.find_subcommand("solve").expect("a command");
        let known: Vec<&str> = solve.get_arguments().filter_map(|argument| argument.get_long()).collect();
        for word in SOLVE.split([' ', '\n', ',', '`', '.']).filter_map(|word| word.strip_prefix("--")) {
            assert!(word == "help-all" || known.contains(&word), "--{word}");
        }
    }

    #[test]
    fn all_is_what_clap_shows() {
        assert_eq!(screen(words("sortie --help-all")), Err(words("sortie --help")));
        assert_eq!(screen(words("sortie solve --help-all")), Err(words("sortie solve --help")));
        assert_eq!(screen(words("sortie solve --help")), Ok(SOLVE));
        assert_eq!(screen(words("sortie match --help")), Err(words("sortie match --help")));
    }
}
