import type { Refusal } from '../../../contracts/refusal';
import type { ProviderRuntimeManifest } from '../../../contracts/runs/launch/contract';
import type { PhaseEvidence } from '../../../contracts/runs/phase';
import type { LaunchSnapshot } from '../../../domain/contract';
import type { Sources } from '../../../domain/phases/evidence';
import { launchPhase, phaseRefusal } from '../../../domain/phases/launch';
import { launchSources } from '../../../domain/phases/sources';
import { lastingEvidence } from '../../../domain/phases/transition';
import type { PhaseStore } from '../../../stores/runs/phase-store';

export interface LaunchPhase {
  evidence: PhaseEvidence;
  /** What limits every later phase of the attempt, too. */
  sources: Sources;
}

/** The permissions of an attempt, compiled at the time of its contract; or why it cannot be in that phase. */
export async function phaseAtLaunch(
  { phases }: { phases: Pick<PhaseStore, 'get'> },
  snapshot: LaunchSnapshot,
  { parentAttemptId, runtime }: { parentAttemptId: string | undefined; runtime: ProviderRuntimeManifest },
): Promise<LaunchPhase | Refusal> {
  const parent = parentAttemptId === undefined ? undefined : await phases.get(parentAttemptId);
  const sources = launchSources({
    sandbox: snapshot.sandbox,
    profile: snapshot.profile,
    allowedSideEffects: snapshot.objective.allowedSideEffects,
  });
  // A retry resumes the phase of its predecessor, whatever phase that was once launched in.
  const retried = parentAttemptId !== snapshot.request.parentAttemptId && parent?.evidence.mode === 'profile';
  const { evidence, blockers } = launchPhase({
    requested: retried ? undefined : snapshot.request.phase,
    parent: parent && lastingEvidence(parent),
    sources,
    runtime,
  });
  return blockers.length > 0 ? phaseRefusal(evidence.phase, blockers) : { evidence, sources };
}
