import { type Answer, type Caller, scriptAgent } from '../caller';

/** An agent whose operator vouches that it runs inside something that enforces every phase. */
export const confinedAgent = (type = 'confined') => ({
  ...scriptAgent('worker-bee', '1200', '100'),
  type,
  hostEnforced: [
    'filesystem.deny-paths',
    'filesystem.descendants',
    'network.disable',
    'network.allowlist',
    'credential.broker',
    'tool.calls',
    'tool.mcp',
  ],
});

/** The current phase of a run. */
export const readPhase = (call: Caller, { taskId, attemptId }: { taskId: string; attemptId: string }) =>
  call.ok('GET', `/api/agents/${taskId}/phase?attemptId=${attemptId}`);

/** A transition of exactly what was read. */
export const transitionOf = (snapshot: Answer['body'], phase: string, operationId: string, fields: object = {}) => ({
  attemptId: snapshot.attemptId,
  operationId,
  expectedSequence: snapshot.sequence,
  expectedPhaseEvidenceDigest: snapshot.evidence.digest,
  expectedManifestDigest: snapshot.manifestDigest,
  reason: 'because the test says so',
  targetEvidence: { phase },
  ...fields,
});

/** A moment from now, in milliseconds. */
export const inMs = (ms: number): string => new Date(Date.now() + ms).toISOString();
