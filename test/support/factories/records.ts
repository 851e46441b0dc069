import type { CompletionResult } from '../../../contracts/runs/completion';
import type { TerminalClaim } from '../../../domain/completion';
import { textDigest } from '../../../platform/json/digest';
import type { AttemptRecord } from '../../../stores/runs/attempt-store';
import type { WorktreeRecord } from '../../../stores/runs/workspaces/worktree-store';

/** Moments of a test, in milliseconds after its beginning. */
export const at = (ms: number): string => new Date(Date.parse('2026-01-01T00:00:00.000Z') + ms).toISOString();

/** The task of what factories make. */
export const taskId = 'task_20260101_fence0';
export const sha = (letter: string): string => letter.repeat(40);

/** An attempt with what the fences read of it. */
export function anAttempt(id: string, fields: Partial<AttemptRecord> = {}): AttemptRecord {
  return {
    _id: id,
    schemaVersion: 'attempt/v1',
    taskId,
    rootAttemptId: id,
    retryNumber: 0,
    agent: 'bee',
    provider: 'process',
    phase: 'implement',
    state: 'admitted',
    revision: 1,
    hostId: 'here',
    createdAt: at(0),
    createdBy: 'user:ada',
    maxRetries: 1,
    repository: null,
    git: null,
    profile: null,
    sandbox: null,
    request: {},
    objective: { context: { project: null } },
    agentConfig: { type: 'bee', name: 'Bee', provider: 'process', command: 'bee', args: [], enabled: true },
    selection: { fallbackAllowed: false },
    ...fields,
    // What no fence asks for is left out.
  } as unknown as AttemptRecord;
}

export const aClaim = (summary: string, status: TerminalClaim['status'] = 'success'): TerminalClaim => ({
  terminalSource: 'process',
  status,
  summary,
  claims: {},
  harness: { ended: 'exit', exitCode: 0 },
});

export const aCompletion = (summary: string, status: CompletionResult['status'] = 'success'): CompletionResult =>
  ({
    status,
    summary,
    digest: textDigest(summary),
    completedAt: at(50),
    terminalSource: 'process',
    harness: { ended: 'exit' },
    downgrades: [],
  }) as unknown as CompletionResult;

/** The manifest of a worktree at rest. */
export function aWorktree(fields: Partial<WorktreeRecord> = {}): WorktreeRecord {
  return {
    _id: taskId,
    schemaVersion: 'worktree-manifest/v1',
    taskId,
    repository: 'demo',
    repositoryPath: '/repository',
    path: '/worktrees/fence',
    hostId: 'here',
    branch: 'task/fence',
    base: { branch: 'main', remote: null, sha: sha('a'), source: 'local', fetchedAt: null },
    lease: { leaseId: 'lease', ownerAttemptId: null, seconds: 60, expiresAt: at(60_000) },
    state: 'ready',
    operation: null,
    recoverable: null,
    history: [],
    revision: 1,
    createdAt: at(0),
    updatedAt: at(0),
    allocation: 'here:/worktrees/fence',
    ...fields,
  } as WorktreeRecord;
}
