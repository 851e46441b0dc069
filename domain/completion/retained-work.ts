import type { CommitPolicy, Phase } from '../../contracts/common';
import type { CompletionResult } from '../../contracts/runs/completion';
import type {
  AllowedSideEffect,
  ProviderRuntimeManifest,
  RecordedTaskEnvelope,
} from '../../contracts/runs/launch/contract';
import type { PhaseEvidence, PhaseTransition } from '../../contracts/runs/phase';
import type { SandboxPreset } from '../../contracts/settings/sandbox';
import { effectiveSideEffects } from '../contract/side-effects';
import type { Authority } from '../phases/authority';
import { authorityOf } from '../phases/evidence';

/** What a run was allowed from one change of its phase to the next. */
export interface HeldAuthority {
  /** Of the change it began with; 0 for the launch. */
  sequence: number;
  phase: Phase;
  /** By task, phase, sandbox and runtime together. */
  allowed: AllowedSideEffect[];
  /** By the phase and its sources alone; `null` for a run without a phase. */
  byPhase: AllowedSideEffect[] | null;
}

/** What the evidence of an end is judged against. */
export interface Judgement {
  held: HeldAuthority[];
  /** Of the sandbox preset that the run was launched with. */
  deniedPaths: string[];
  /** How the completion reports the phase. */
  phase: NonNullable<CompletionResult['phase']>;
}

export interface JudgedRun {
  taskEnvelope?: RecordedTaskEnvelope;
  providerRuntimeManifest?: ProviderRuntimeManifest;
  objective: { allowedSideEffects: readonly AllowedSideEffect[] | null };
  commitPolicy: CommitPolicy;
  sandbox: SandboxPreset | null;
}

/** The phase of a run with its journal. */
export interface JudgedPhases {
  launchPhase: Phase;
  /** What it was launched with; absent in records of earlier versions. */
  launchEvidence?: PhaseEvidence;
  evidence: PhaseEvidence;
  sequence: number;
  history: readonly Pick<PhaseTransition, 'sequence' | 'kind' | 'evidence' | 'at'>[];
}

/** What a run held when; `undefined` for one that was launched without a contract or a record of its phase. */
export function judgementOf(run: JudgedRun, phases: JudgedPhases | undefined): Judgement | undefined {
  const { taskEnvelope: envelope, providerRuntimeManifest: runtime, sandbox } = run;
  // Envelopes of early releases bound nothing but the commit.
  if (!envelope?.policy || !runtime || !phases) {
    return undefined;
  }
  const worktreePath = envelope.workspace?.path ?? null;
  const posture = { commitPolicy: run.commitPolicy, sandbox, runtime, worktreePath };
  const heldWith = (
    sequence: number,
    { phase, mode }: Pick<PhaseEvidence, 'phase' | 'mode'>,
    authority: Authority | undefined,
  ): HeldAuthority => ({
    sequence,
    phase,
    allowed: effectiveSideEffects({ ...posture, allowed: run.objective.allowedSideEffects, authority }),
    byPhase:
      authority && mode === 'profile'
        ? effectiveSideEffects({ ...posture, allowed: null, commitPolicy: 'allowed', sandbox: null, authority })
        : null,
  });
  const launch = phases.launchEvidence ?? (phases.history.length === 0 ? phases.evidence : undefined);
  // Recorded by an earlier version, it is in the envelope, unless there was none.
  const launched = launch ? authorityOf(launch) : envelope.policy.authority;
  return {
    held: [
      heldWith(0, { phase: phases.launchPhase, mode: launch?.mode ?? (launched ? 'profile' : 'legacy') }, launched),
      ...phases.history.map(({ sequence, evidence }) => heldWith(sequence, evidence, authorityOf(evidence))),
    ],
    deniedPaths: sandbox?.filesystem.deniedPaths ?? [],
    phase: {
      phase: phases.evidence.phase,
      evidence: phases.evidence.mode,
      digest: phases.evidence.digest,
      launchPhase: phases.launchPhase,
      sequence: phases.sequence,
      transitions: phases.history.slice(-shownTransitions).map(({ sequence, kind, evidence, at }) => ({
        sequence,
        kind,
        phase: evidence.phase,
        digest: evidence.digest,
        at,
      })),
    },
  };
}

/** The most transitions that a completion names, the newest ones. */
const shownTransitions = 50;
