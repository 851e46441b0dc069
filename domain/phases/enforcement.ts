import type { ProviderRuntimeManifest } from '../../contracts/runs/launch/contract';
import type { PhaseDimension, PhaseEnforcement } from '../../contracts/runs/phase';
import { bySandbox } from '../sandbox/support';
import { type Authority, everything, type Scoped, withinScoped } from './authority';
import { baseline } from './table';

/** The capability that means an agent does such things at all, and those that together enforce limits on it. */
const mechanisms: Record<PhaseDimension, { does: string; confines: string[] }> = {
  'filesystem.read': { does: 'filesystem.read', confines: ['filesystem.deny-paths', 'filesystem.descendants'] },
  'filesystem.write': { does: 'filesystem.write', confines: ['filesystem.deny-paths', 'filesystem.descendants'] },
  'command.execute': { does: 'run.start', confines: ['tool.calls'] },
  'network.egress': { does: 'run.start', confines: ['network.allowlist'] },
  'credential.access': { does: 'environment.allowlist', confines: ['credential.broker'] },
  'external.action': { does: 'run.start', confines: ['tool.calls', 'tool.mcp'] },
  'artifact.plan.write': { does: 'filesystem.write', confines: ['filesystem.deny-paths', 'filesystem.descendants'] },
};

/**
 * Whether the runtime enforces the limits of each dimension on its agent.
 *
 * @param preset what a required sandbox preset of the run allows
 */
export function enforcementOf(
  authority: Authority,
  runtime: Pick<ProviderRuntimeManifest, 'capabilities' | 'sandbox'>,
  preset?: Authority,
): Record<PhaseDimension, PhaseEnforcement> {
  const notByItself = bySandbox(runtime);
  const supported = new Set(
    runtime.capabilities.filter(({ id, state }) => state === 'supported' && !notByItself.has(id)).map(({ id }) => id),
  );
  const of = (dimension: PhaseDimension): PhaseEnforcement => {
    const scoped = authority[dimension];
    // Nothing is forbidden, so nothing has to be prevented.
    if (scoped.scopes.includes(everything) && scoped.approval.length === 0) {
      return 'enforced';
    }
    // A sandbox is made of the preset when the run begins: what is less than that is not kept by it.
    if (dimension === 'network.egress' && preset && notByItself.has('network.allowlist')) {
      if (withinScoped(preset[dimension], scoped)) {
        return 'enforced';
      }
    }
    const { does, confines } = mechanisms[dimension];
    const closed = dimension === 'network.egress' && scoped.scopes.length === 0 && supported.has('network.disable');
    if (closed || confines.every((id) => supported.has(id))) {
      return 'enforced';
    }
    return supported.has(does) ? 'unenforceable' : 'unsupported';
  };
  return Object.fromEntries(
    (Object.keys(mechanisms) as PhaseDimension[]).map((dimension) => [dimension, of(dimension)]),
  ) as Record<PhaseDimension, PhaseEnforcement>;
}

/** Whether this has to be enforced: it is less than what any agent may do in its worktree, or parts of it need an approval. */
export const needsEnforcement = (dimension: PhaseDimension, scoped: Scoped): boolean => {
  if (scoped.approval.length > 0) {
    return true;
  }
  const usual = baseline[dimension].scopes;
  if (scoped.scopes.includes(everything)) {
    return false;
  }
  return usual.some((scope) => !scoped.scopes.includes(scope));
};
