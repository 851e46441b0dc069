import { mkdir } from 'node:fs/promises';
import type { RunEventInput } from '../../../contracts/runs/event';
import type { TaskEnvelopeTransport } from '../../../contracts/runs/launch/contract';
import type { AgentConfig } from '../../../contracts/settings/agent-config';
import { openRules } from '../../../domain/tools/rules';
import type { ProcessIdentity } from '../../../platform/processes/identity';
import type { TempDir } from '../../../platform/testing/temp-dir';
import type { AgentDispatch, AgentSink } from '../../../providers/agents/provider';
import { anAgent } from '../../support/factories/agent';

/** A sink that records its events. */
export class RecordingSink implements AgentSink {
  readonly events: RunEventInput[] = [];
  readonly batches: number[] = [];
  process: ProcessIdentity | undefined;

  async started(process: ProcessIdentity): Promise<void> {
    this.process = process;
  }

  async append(events: RunEventInput[]): Promise<void> {
    this.batches.push(events.length);
    this.events.push(...events);
  }

  kinds(): string[] {
    return this.events.map((event) => event.kind);
  }

  /** The text of every event of a stream. */
  text(kind: 'stream.stdout' | 'stream.stderr' = 'stream.stdout'): unknown[] {
    return this.events.filter((event) => event.kind === kind).map((event) => event.payload.text);
  }
}

let attempts = 0;

export const agentConfig = (command: string, args: string[], environmentKeys: string[] = []): AgentConfig =>
  anAgent({ type: 'fixture', name: 'Fixture', command, args, environmentKeys });

/** A dispatch of a shell script with an attempt id of its own. */
export async function aDispatch(
  directory: TempDir,
  script: string,
  changes: Partial<Omit<AgentDispatch, 'transport'>> & { args?: string[]; transport?: object } = {},
): Promise<AgentDispatch> {
  attempts += 1;
  const attemptId = `attempt_${process.pid}x${attempts}`.padEnd(20, 'z');
  const worktreePath = `${directory.path}/worktree`;
  await mkdir(worktreePath, { recursive: true });
  const {
    args = [],
    transport = { schemaVersion: 'provider-task-envelope-transport/v1', attemptId },
    ...rest
  } = changes;
  return {
    attemptId,
    taskId: 'task_20260101_fixture',
    agent: agentConfig('sh', ['-c', script, 'agent', ...args]),
    worktreePath,
    // Agents receive it unchanged: a test sets only the fields it is about.
    transport: transport as TaskEnvelopeTransport,
    transportDir: `${directory.path}/transport`,
    rules: () => Promise.resolve(openRules(worktreePath)),
    stopGraceMs: 300,
    timeoutMs: 30_000,
    outputLimitBytes: 1_048_576,
    ...rest,
  };
}
