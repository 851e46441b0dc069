import type { JudgedPhases, JudgedRun } from '../completion';
import { effectiveSideEffects, type Posture } from '../contract/side-effects';
import { type Authority, unlimited } from '../phases/authority';
import { authorityOf } from '../phases/evidence';
import { isConfined, openRules, type ToolRules } from './rules';

/**
 * What tools may do for a run as its phase is now. Its end is judged by the same effects.
 *
 * @param phases absent for a run that was launched before phases were recorded
 */
export function rulesOfRun(
  run: JudgedRun,
  phases: Pick<JudgedPhases, 'evidence'> | undefined,
  worktreePath: string,
): ToolRules {
  const { taskEnvelope: envelope, providerRuntimeManifest: runtime, sandbox, commitPolicy } = run;
  const open = openRules(worktreePath);
  if (!envelope?.policy || !runtime) {
    return open;
  }
  const authority = phases && authorityOf(phases.evidence);
  const { tools, permissions } = envelope.policy;
  const { allowedSideEffects: allowed } = run.objective;
  const posture = { allowed, commitPolicy, sandbox, runtime, worktreePath, authority };
  const isStartedInSandbox = sandbox !== null && runtime.sandbox !== undefined;
  return {
    authority: phases?.evidence.mode === 'profile' ? authorityOf(phases.evidence) : null,
    effects: effectiveSideEffects(posture),
    tools,
    permissions,
    deniedPaths: [
      ...(sandbox?.filesystem.deniedPaths ?? []),
      ...(isStartedInSandbox && sandbox.filesystem.dotfileMasking ? secretFiles : []),
    ],
    readPaths: sandbox?.filesystem.readPaths ?? [],
    worktreePath,
    isSandboxed: isStartedInSandbox && !isConfinedBesides(posture, phases),
  };
}

/** What a sandbox masks of a worktree, which our own tools do not read for the agent either. */
const secretFiles = ['.env', '.env.*', '**/.env', '**/.env.*'];

/** Whether anything but the preset limits what the run may write and reach. */
function isConfinedBesides(posture: Posture, phases: Pick<JudgedPhases, 'evidence'> | undefined): boolean {
  const { authority } = posture;
  const effects = effectiveSideEffects({
    ...posture,
    sandbox: null,
    authority: authority && phases ? withoutPreset(authority, phases) : undefined,
  });
  return isConfined({ effects, deniedPaths: [], readPaths: [] });
}

/** The authority, with all of the network where nothing but the preset takes some of it away. */
function withoutPreset(authority: Authority, { evidence }: Pick<JudgedPhases, 'evidence'>): Authority {
  const { limitedBy } = evidence.dimensions['network.egress'];
  return limitedBy.length > 0 && limitedBy.every((source) => source === 'sandbox')
    ? { ...authority, 'network.egress': unlimited['network.egress'] }
    : authority;
}
