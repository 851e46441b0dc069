import type { AllowedSideEffect } from '../../contracts/runs/launch/contract';
import { phaseDimension } from '../../contracts/runs/phase';
import { isDenied, isWithin, mayHoldDenied } from '../contract/path-scope';
import { type Authority, everything } from '../phases/authority';
import { classify, type Command } from './command-class';

/** What a run may have tools do now. */
export interface ToolRules {
  /** Of the phase; `null` without one. */
  authority: Authority | null;
  /** By task, phase, sandbox and runtime together. */
  effects: readonly AllowedSideEffect[];
  tools: { allowed: readonly string[] | null; denied: readonly string[] };
  permissions: readonly string[] | null;
  /** Of the sandbox preset. */
  deniedPaths: readonly string[];
  readPaths: readonly string[];
  worktreePath: string;
  /** Whether the run is started in a sandbox that keeps it to everything by which it is limited. */
  isSandboxed?: boolean;
  /** Asks the rules of the board about a use that nothing here denies; the stricter counts. */
  asks?: (use: ToolUse) => Promise<ToolVerdict>;
}

/** Nothing but the worktree limits it. */
export const openRules = (worktreePath: string): ToolRules => ({
  authority: null,
  effects: [
    { kind: 'filesystem-write', scope: '.' },
    { kind: 'process-execute', scope: '*' },
    { kind: 'network-egress', scope: '*' },
  ],
  tools: { allowed: null, denied: [] },
  permissions: null,
  deniedPaths: [],
  readPaths: [],
  worktreePath,
});

/** One use of a tool. */
export interface ToolUse {
  /** Its kind in the Agent Client Protocol's terms; `null` when not stated. */
  kind: string | null;
  /** Everything it is called by: rules name any of these. */
  names: readonly string[];
  /** Relative to the worktree, `null` for one outside; absent when it does not name its files. */
  paths?: readonly (string | null)[];
  command?: Command;
  host?: string;
}

export type ToolRule = 'tools' | 'permissions' | 'phase' | 'sandbox' | 'policy';
/** `ask`: the phase requires an approval of it each time. */
export type ToolVerdict =
  { verdict: 'allow' } | { verdict: 'ask' } | { verdict: 'deny'; rule: ToolRule; reason: string };

const allow: ToolVerdict = { verdict: 'allow' };
const deny = (rule: ToolRule, reason: string): ToolVerdict => ({ verdict: 'deny', rule, reason });

/** Kinds that people also know by these names. */
const aliases: Readonly<Record<string, readonly string[]>> = {
  execute: ['shell', 'terminal'],
  edit: ['write'],
  fetch: ['network'],
};

/** Everything that a use is called by: its names, its kind, and what people call the kind. */
export const allNamesOf = ({ names, kind }: Pick<ToolUse, 'names' | 'kind'>): string[] => [
  ...names,
  ...(kind === null ? [] : [kind, ...(aliases[kind] ?? [])]),
];

/** Decides whether a run may use a tool: the strictest of profile, preset, task and phase counts. */
export function decideTool(rules: ToolRules, use: ToolUse): ToolVerdict {
  const names = allNamesOf(use);
  const { tools, permissions } = rules;
  const denied = names.find((name) => tools.denied.includes(name));
  if (denied !== undefined) {
    return deny('tools', `The profile denies the tool ${denied}.`);
  }
  if (tools.allowed && !names.some((name) => tools.allowed?.includes(name))) {
    return deny('tools', `The profile does not allow the tool ${names[0] ?? 'without a name'}.`);
  }
  const permitted = permissions?.filter((name) => !phaseDimension.safeParse(name.split(':')[0]).success) ?? [];
  if (permitted.length > 0 && !names.some((name) => permitted.includes(name))) {
    return deny('permissions', `The profile gives no permission of ${names[0] ?? 'a tool without a name'}.`);
  }
  switch (use.kind) {
    case 'read':
    case 'search':
      return decideRead(rules, use);
    case 'edit':
    case 'delete':
    case 'move':
      return decideWrite(rules, use);
    case 'execute':
      return decideCommand(rules, use);
    case 'fetch':
      return decideFetch(rules, use);
    case 'think':
    case 'switch_mode':
      return allow;
    default:
      return isConfined(rules) ? deny('phase', 'The effects of this tool are unknown, and the run has limits.') : allow;
  }
}

/** What may be a directory with everything in it. */
const reachesBelow = (kind: string | null, path: string): boolean =>
  path === '.' || kind === 'search' || kind === 'delete' || kind === 'move';

function deniesPath({ deniedPaths, worktreePath }: ToolRules, kind: string | null, path: string): boolean {
  if (isDenied(path, deniedPaths, worktreePath)) {
    return true;
  }
  return reachesBelow(kind, path) && mayHoldDenied(path, deniedPaths, worktreePath);
}

function decideRead(rules: ToolRules, { kind, paths }: ToolUse): ToolVerdict {
  const { authority, deniedPaths, readPaths, worktreePath } = rules;
  const scopes = authority?.['filesystem.read'].scopes;
  if (scopes?.length === 0) {
    return deny('phase', 'The phase reads no files.');
  }
  if (!paths) {
    return deniedPaths.length + readPaths.length > 0
      ? deny('sandbox', 'The request lists no paths to read, and the sandbox preset has limits.')
      : allow;
  }
  for (const path of paths) {
    if (path === null) {
      if (scopes && !scopes.includes(everything)) {
        return deny('phase', 'The file is outside the worktree.');
      }
      if (readPaths.length > 0) {
        return deny('sandbox', 'The file is outside the readable paths of the sandbox preset.');
      }
      continue;
    }
    if (deniesPath(rules, kind, path)) {
      return deny('sandbox', `The sandbox preset denies ${path}.`);
    }
    if (readPaths.length > 0 && !isDenied(path, readPaths, worktreePath)) {
      return deny('sandbox', `The sandbox preset does not allow reading ${path}.`);
    }
  }
  return allow;
}

function decideWrite(rules: ToolRules, { kind, paths }: ToolUse): ToolVerdict {
  const { effects, deniedPaths } = rules;
  const scopes = effects.filter(({ kind }) => kind === 'filesystem-write').map(({ scope }) => scope);
  const rule = rules.authority ? 'phase' : 'policy';
  if (!paths) {
    return scopes.includes('.') && deniedPaths.length === 0
      ? asked(rules, 'filesystem.write', 'workspace')
      : deny(rule, 'The request lists no paths to write, and the run has limits.');
  }
  for (const path of paths) {
    if (path === null) {
      if (isConfined(rules)) {
        return deny(rule, 'The file is outside the worktree.');
      }
      continue;
    }
    if (deniesPath(rules, kind, path)) {
      return deny('sandbox', `The sandbox preset denies ${path}.`);
    }
    if (!scopes.some((scope) => isWithin(path, scope))) {
      return deny(rule, `The run may not write ${path}.`);
    }
  }
  return asked(rules, 'filesystem.write', 'workspace');
}

function decideCommand(rules: ToolRules, { command }: ToolUse): ToolVerdict {
  if (!rules.effects.some(({ kind }) => kind === 'process-execute')) {
    return deny('policy', 'The run starts no commands.');
  }
  const commandClass = command ? classify(command) : 'mutate';
  // What a program reads and writes once it runs cannot be observed.
  if (rules.deniedPaths.length + rules.readPaths.length > 0 && !rules.isSandboxed) {
    return deny('sandbox', 'Commands cannot be restricted to the paths that the sandbox preset allows.');
  }
  if (commandClass !== 'inspect' && isConfined(rules)) {
    return deny(
      'phase',
      `Commands of the kind ${commandClass} cannot be restricted to what the run may write and reach.`,
    );
  }
  const scopes = rules.authority?.['command.execute'].scopes ?? [everything];
  if (!scopes.includes(everything) && !scopes.includes(commandClass)) {
    return deny('phase', `The phase allows no commands of the kind ${commandClass}.`);
  }
  return asked(rules, 'command.execute', commandClass);
}

function decideFetch(rules: ToolRules, { host }: ToolUse): ToolVerdict {
  const hosts = rules.effects.filter(({ kind }) => kind === 'network-egress').map(({ scope }) => scope);
  if (!hosts.includes(everything) && (host === undefined || !hosts.includes(host))) {
    return deny(rules.authority ? 'phase' : 'policy', `The run may not reach ${host ?? 'the network'}.`);
  }
  return asked(rules, 'network.egress', host ?? everything);
}

/** What the phase allows only with an approval each time results in `ask`. */
function asked({ authority }: ToolRules, dimension: keyof Authority, scope: string): ToolVerdict {
  const approval = authority?.[dimension].approval ?? [];
  return approval.includes(scope) || approval.includes(everything) ? { verdict: 'ask' } : allow;
}

/** Whether the run may do less than any agent in its worktree may do anyway. */
export function isConfined({
  effects,
  deniedPaths,
  readPaths,
  isSandboxed,
}: Pick<ToolRules, 'effects' | 'deniedPaths' | 'readPaths' | 'isSandboxed'>): boolean {
  if (isSandboxed) {
    return false;
  }
  const has = (kind: AllowedSideEffect['kind'], scope: string) =>
    effects.some((effect) => effect.kind === kind && effect.scope === scope);
  return deniedPaths.length + readPaths.length > 0 || !has('filesystem-write', '.') || !has('network-egress', '*');
}
