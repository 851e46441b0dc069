/** What a command is for, by the scopes of `command.execute`. */
export type CommandClass = 'inspect' | 'build' | 'test' | 'format' | 'publish' | 'mutate';

export interface Command {
  name: string;
  args: readonly string[];
}

/** Programs that only read, with the options of theirs that do more, or read elsewhere. */
const inspecting: Readonly<Record<string, RegExp | undefined>> = {
  cat: undefined,
  du: /^(-[a-zA-Z]*L|--dereference|--files0-from)/,
  find: /^-(exec|execdir|delete|ok|okdir|fprint|fprintf|fprint0|fls|L|H|files0-from)/,
  grep: /^(-[a-zA-Z]*[Rf]|--dereference-recursive|--file)/,
  head: undefined,
  ls: undefined,
  nl: undefined,
  pwd: undefined,
  rg: /^(-[a-zA-Z]*[zLf]|--pre|--hostname-bin|--search-zip|--follow|--file|--config)/,
  stat: undefined,
  tail: undefined,
  wc: /^--files0-from/,
};

const readingGit = /^(status|log|diff|show|ls-files|ls-tree|blame|rev-parse|cat-file|shortlog|describe)$/;
const writingGit = /^(--output|--ext-diff|--textconv|--filters|--no-index|--contents|--open-files|-O)/;

const others: readonly [CommandClass, RegExp][] = [
  [
    'publish',
    /^(git (push|send-email)|(npm|pnpm|yarn|cargo|poetry|gem) (publish|push)|twine |gh |docker push|mvn deploy)/,
  ],
  [
    'test',
    /^((npm|pnpm|yarn|bun|cargo|go|make|dotnet|mvn|deno) (run )?test\b|npx (jest|vitest|mocha)\b|(pytest|jest|vitest|mocha)\b)/,
  ],
  [
    'format',
    /^((npm|pnpm|yarn) (run )?(format|fmt)\b|npx prettier\b|(prettier|gofmt|rustfmt|black|ruff format)\b|cargo fmt\b)/,
  ],
  [
    'build',
    /^((npm|pnpm|yarn|bun|cargo|go|dotnet) (run )?(build|check|lint|typecheck|vet)\b|make( (build|all))?$|npx tsc\b|(tsc|eslint)\b|mvn (compile|package)\b)/,
  ],
];

/**
 * What a command is for, by its name and arguments; an unlisted one may do anything (`mutate`). `inspect` is only what reads
 * inside its working directory.
 */
export function classify({ name, args }: Command): CommandClass {
  if (isInspecting(name, args)) {
    return 'inspect';
  }
  const line = [name.replace(/^.*\//, ''), ...args].join(' ');
  return others.find(([, pattern]) => pattern.test(line))?.[0] ?? 'mutate';
}

function isInspecting(name: string, args: readonly string[]): boolean {
  // A path may name a program of the worktree, and an argument a file elsewhere.
  if (args.some(leadsElsewhere)) {
    return false;
  }
  if (name === 'git') {
    return readingGit.test(args[0] ?? '') && !args.some((arg) => writingGit.test(arg));
  }
  if (!Object.hasOwn(inspecting, name)) {
    return false;
  }
  const more = inspecting[name];
  return more === undefined || !args.some((arg) => more.test(arg));
}

/** Absolute, climbing, or hidden in an option. */
const leadsElsewhere = (arg: string): boolean =>
  /^[/~]/.test(arg) || arg.split(/[/=:]/).includes('..') || /^-[^/]*\//.test(arg);
