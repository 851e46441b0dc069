import type { JudgedPhases, JudgedRun } from '../completion';
import { effectiveSideEffects } from '../contract/side-effects';
import { authorityOf } from '../phases/evidence';
import { openRules, type ToolRules } from './rules';

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
  return {
    authority: phases?.evidence.mode === 'profile' ? authorityOf(phases.evidence) : null,
    effects: effectiveSideEffects({
      allowed: run.objective.allowedSideEffects,
      commitPolicy,
      sandbox,
      runtime,
      worktreePath,
      authority,
    }),
    tools,
    permissions,
    deniedPaths: sandbox?.filesystem.deniedPaths ?? [],
    readPaths: sandbox?.filesystem.readPaths ?? [],
    worktreePath,
  };
}
