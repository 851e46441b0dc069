import type { Refusal } from '../../contracts/refusal';
import type { LaunchFinding } from '../../contracts/runs/launch/manifest';
import { refusal } from '../../domain/refusal';

export interface HostProblemDependencies {
  hostId: string;
  /** What runs in worktrees lack on this host. */
  hostFindings: () => Promise<LaunchFinding[]>;
}

/** Without these nothing can be done in a worktree. */
const blocking = ['git-missing', 'worktree-root-not-writable'];

/** Why no worktree can be made or used on this host; `undefined` where one can. */
export async function hostProblem({ hostId, hostFindings }: HostProblemDependencies): Promise<Refusal | undefined> {
  const findings = (await hostFindings()).filter(({ code }) => blocking.includes(code));
  if (findings.length === 0) {
    return undefined;
  }
  const reasons = findings.map(({ message }) => message).join(' ');
  return refusal('HOST_NOT_READY', `The host ${hostId} cannot run anything in a worktree. ${reasons}`, {
    hostId,
    findings,
    remediation: findings[0]?.remedy,
  });
}
