import type { LaunchRefusal } from '../contracts/launch';
import type { PhaseEvidence } from '../contracts/phase';
import type { ProviderRuntimeManifest } from '../contracts/run-contract';
import type { LaunchSnapshot } from '../runs/contract';
import type { Sources } from '../runs/phases/evidence';
import { launchPhase, phaseRefusal } from '../runs/phases/launch';
import { launchSources } from '../runs/phases/sources';
import { lastingEvidence } from '../runs/phases/transition';
import type { PhaseStore } from '../stores/phase-store';

export interface LaunchPhase {
  evidence: PhaseEvidence;
  /** What limits every later phase of the attempt, too. */
  sources: Sources;
}

/** What an attempt may do, compiled from what is true when its contract is; or why it cannot be in that phase. */
export async function phaseAtLaunch(
  { phases }: { phases: Pick<PhaseStore, 'get'> },
  snapshot: LaunchSnapshot,
  parentAttemptId: string | undefined,
  runtime: ProviderRuntimeManifest,
): Promise<LaunchPhase | LaunchRefusal> {
  const parent = parentAttemptId === undefined ? undefined : await phases.get(parentAttemptId);
  const sources = launchSources({
    sandbox: snapshot.sandbox,
    profile: snapshot.profile,
    allowedSideEffects: snapshot.objective.allowedSideEffects,
  });
  // A retry goes on where its predecessor was, whatever phase that was once launched in.
  const retried = parentAttemptId !== snapshot.request.parentAttemptId && parent?.evidence.mode === 'profile';
  const { evidence, blockers } = launchPhase({
    requested: retried ? undefined : snapshot.request.phase,
    parent: parent && lastingEvidence(parent),
    sources,
    runtime,
  });
  return blockers.length > 0 ? phaseRefusal(evidence.phase, blockers) : { evidence, sources };
}
