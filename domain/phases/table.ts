import type { Phase } from '../../contracts/common';
import type { PhaseDimension } from '../../contracts/runs/phase';
import { type Authority, everything, mapAuthority, type Scoped } from './authority';

type Row = Partial<Record<PhaseDimension, { scopes: string[]; approval?: string[] }>>;

const workspace = { scopes: ['workspace'] };
const commands = (...scopes: string[]) => ({ scopes });
const all = { scopes: [everything] };

/** The built-in phases; a dimension that is not named is closed. The plan file is one exact path. */
const table: Record<Phase, Row> = {
  explore: {
    'filesystem.read': workspace,
    'command.execute': commands('inspect'),
    'external.action': commands('read'),
  },
  plan: { 'filesystem.read': workspace, 'command.execute': commands('inspect'), 'external.action': commands('read') },
  implement: {
    'filesystem.read': workspace,
    'filesystem.write': workspace,
    'command.execute': commands('inspect', 'build', 'test', 'format', 'mutate'),
    'network.egress': all,
    'credential.access': all,
    'external.action': commands('read'),
  },
  verify: {
    'filesystem.read': workspace,
    'filesystem.write': workspace,
    'command.execute': commands('inspect', 'build', 'test'),
    'network.egress': all,
    'external.action': commands('read'),
  },
  publish: {
    'filesystem.read': workspace,
    'filesystem.write': workspace,
    'command.execute': commands('inspect', 'build', 'test', 'publish'),
    'network.egress': all,
    'credential.access': { scopes: [everything], approval: [everything] },
    'external.action': { scopes: ['read', 'mutate'], approval: ['mutate'] },
  },
};

/** What a phase is of no use without. */
const required: Record<Phase, Row> = {
  explore: { 'filesystem.read': workspace },
  plan: { 'filesystem.read': workspace },
  implement: { 'filesystem.read': workspace, 'filesystem.write': workspace },
  verify: { 'filesystem.read': workspace, 'command.execute': commands('test') },
  publish: { 'filesystem.read': workspace, 'command.execute': commands('publish') },
};

/** Where a plan is written by default. */
const defaultPlanPath = '.board/plan.md';

/** The most that a phase allows. */
export const phaseAuthority = (phase: Phase, planPath: string = defaultPlanPath): Authority =>
  mapAuthority((dimension) => {
    if (dimension === 'artifact.plan.write') {
      return { scopes: phase === 'plan' ? [planPath] : [], approval: [] };
    }
    return { approval: [], ...(table[phase][dimension] ?? { scopes: [] }) };
  });

/** The scopes that a phase requires in a dimension. */
export const requiredScopes = (phase: Phase, dimension: PhaseDimension): string[] =>
  required[phase][dimension]?.scopes ?? [];

/** What any agent may do in its worktree: limits beyond this one have to be enforced. */
export const baseline: Record<PhaseDimension, Scoped> = phaseAuthority('implement');
