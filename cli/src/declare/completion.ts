import { Argument, type Command } from "commander";

const HELP = `
bash:  source <(berth completion bash)            in ~/.bashrc
zsh:   source <(berth completion zsh)             in ~/.zshrc, after compinit
fish:  berth completion fish > ~/.config/fish/completions/berth.fish`;

export function declareCompletionCommands(program: Command): void {
  program
    .command("completion")
    .description("print a script with which bash, zsh or fish completes words")
    .addArgument(new Argument("<shell>").choices(["bash", "zsh", "fish"]))
    .addHelpText("after", HELP)
    .action(async (shell) => (await import("../commands/completion/scripts.ts")).printCompletion(shell));
  // The scripts ask with it: berth complete -- WORDS…, of which the last one is unfinished.
  program
    .command("complete", { hidden: true })
    .argument("[words...]")
    .action(async (words: readonly string[]) =>
      (await import("../commands/completion/print-candidates.ts")).printCandidates(program, words),
    );
}
