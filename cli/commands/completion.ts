import { Argument, type Command } from 'commander';

const shells = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof shells)[number];

/** What may follow each sequence of commands: further commands, and options. */
function words(command: Command, path: string): Map<string, string[]> {
  const options = command.options.flatMap(({ long }) => (long ? [long] : []));
  const own = [...command.commands.map((each) => each.name()), ...options];
  return new Map([
    [path, own],
    ...command.commands.flatMap((each) => [...words(each, `${path} ${each.name()}`.trim())]),
  ]);
}

function bash(program: Command): string {
  const cases = [...words(program, '')].map(([path, next]) => `    "${path}") words="${next.join(' ')}" ;;`);
  return `_runboard() {
  local words commands="" word
  for word in "\${COMP_WORDS[@]:1:$((COMP_CWORD - 1))}"; do
    [[ $word == -* ]] || commands="\${commands:+$commands }$word"
  done
  case "$commands" in
${cases.join('\n')}
    *) words="" ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -F _runboard runboard
`;
}

function fish(program: Command): string {
  const lines = [...words(program, '')].flatMap(([path, next]) => {
    const condition = path === '' ? '__fish_use_subcommand' : `__fish_seen_subcommand_from ${path.split(' ').at(-1)}`;
    return next.map((word) =>
      word.startsWith('--')
        ? `complete -c runboard -n '${condition}' -l ${word.slice(2)}`
        : `complete -c runboard -f -n '${condition}' -a ${word}`,
    );
  });
  return `${lines.join('\n')}\n`;
}

const scripts: Record<Shell, (program: Command) => string> = {
  bash,
  fish,
  zsh: (program) => `autoload -U +X bashcompinit && bashcompinit\n${bash(program)}`,
};

/** `runboard completion`, which prints a script for a shell. */
export function addCompletionCommand(program: Command, print: (text: string) => void): void {
  program
    .command('completion')
    .description('Print a completion script: source <(runboard completion bash)')
    .addArgument(new Argument('<shell>', 'your shell').choices(shells))
    .action((shell: Shell) => print(scripts[shell](program)));
}
