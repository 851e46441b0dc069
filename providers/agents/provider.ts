import type { AgentCommand } from '../../contracts/runs/command';
import type { CompletionStatus, Continuation } from '../../contracts/runs/completion';
import type { ConversationEdge } from '../../contracts/runs/conversation';
import type { RunEventInput } from '../../contracts/runs/event';
import type { TaskEnvelopeTransport } from '../../contracts/runs/launch/contract';
import type { HostSandbox, SandboxEvidence } from '../../contracts/runs/launch/host-sandbox';
import type { LaunchFinding } from '../../contracts/runs/launch/manifest';
import type { ToolBridgeFile } from '../../contracts/runs/launch/tool-bridge';
import type { CheckFinding } from '../../contracts/settings/agent-check';
import type { AgentConfig, ProviderFamily } from '../../contracts/settings/agent-config';
import type { SandboxPreset } from '../../contracts/settings/sandbox';
import type { SessionOffer } from '../../contracts/settings/session-offer';
import type { ToolRules } from '../../domain/tools/rules';
import type { ProcessIdentity } from '../../platform/processes/identity';
import type { WorktreeIdentity } from '../git/worktrees/verify-worktree';
import type { AgentResult } from './agent-result';
import type { RecordedOutput } from './local/recorded-output';
import type { AgentQuestion, AgentResponse } from './question';

/** One attempt to be executed. */
export interface AgentDispatch {
  attemptId: string;
  taskId: string;
  agent: AgentConfig;
  /** Absolute path of an existing directory: the agent's working directory. */
  worktreePath: string;
  /** Which directory that is, where it is recorded. */
  worktreeIdentity?: WorktreeIdentity | undefined;
  /** What the run may have tools do, as it is at this moment: for providers that are asked before something is done. */
  rules: () => Promise<ToolRules>;
  /** The document the agent is given. */
  transport: TaskEnvelopeTransport;
  /** The model that the launch itself names: without it an agent that offers no models is not refused for its own. */
  requestedModel?: string;
  /** The session of an earlier attempt that this one continues; a new one when absent. */
  conversation?: { edge: ConversationEdge; continuation: Continuation; forkTurnId?: string };
  /** Credential of the attempt, for an agent that launches children; written beside the transport document. */
  handle?: string;
  /** What everything that is started for the attempt is confined to; where it cannot be, nothing is started. */
  sandbox?: { preset: SandboxPreset; gitDir?: string | undefined; branch?: string | undefined };
  /** Where the agent calls the tools of its run, for a launch with tools; written beside the transport document. */
  toolBridge?: ToolBridgeFile;
  /** Absolute; the transport document is `<attemptId>.json` in it, readable by the owner only, while the agent runs. */
  transportDir: string;
  /** Between SIGTERM and SIGKILL, in milliseconds. */
  stopGraceMs: number;
  /** The longest the agent may run, in milliseconds. */
  timeoutMs: number;
  /** The most that is handed to the sink, in bytes of stored events; everything after it is counted and dropped. */
  outputLimitBytes: number;
  /**
   * Absolute; the agent is started to outlive its worker, with its streams in this directory, and can be adopted by
   * another one of this host. To be removed once its end is recorded. Pipes when absent.
   */
  spoolDir?: string;
  /**
   * Whether the attempt still belongs to this worker, as the stores record: asked right before the agent is started, and
   * before one that another worker may have adopted is ended. Always when absent.
   */
  isCurrent?(): Promise<boolean>;
}

/** The attempt was taken from this worker, or has ended, while it was asleep: nothing is started or published any more. */
export class AttemptMovedOnError extends Error {
  override readonly name = 'AttemptMovedOnError';

  constructor(attemptId: string) {
    super(`${attemptId} goes on without this worker.`);
  }
}

/** Why `signal` is aborted to leave an agent to the next worker; one that cannot be left is stopped. */
export const detachReason = 'left to the next worker';

/** The agent stays as it is: another worker resumes it. */
export class AgentDetachedError extends Error {
  override readonly name = 'AgentLeftError';
}

/** An agent that another worker has started, as it was recorded. */
export interface OrphanedAgent {
  process: ProcessIdentity;
  recorded: RecordedOutput;
  /** How long it has run, in milliseconds. */
  ranMs: number;
}

/**
 * Why an agent is not resumed.
 *
 * - `adapter-reattach-unsupported`: it was not started to outlive its worker
 * - `supervisor-record-missing`: its process was never recorded, or its record is gone
 * - `foreign-host`: it runs on another host
 * - `process-not-found`: it is gone and has left no exit; after a reboot, whatever it has left
 * - `process-exited`: it was being ended
 * - `process-identity-mismatch`: its pid is another process by now
 * - `process-identity-unverifiable`: what runs under its pid cannot be inspected
 * - `binding-mismatch`: it was given another task, or other secrets than this worker knows of
 * - `in-process-state-lost`: the rest of a line for it was in the worker that died
 */
export type ReattachRefusal =
  | 'adapter-reattach-unsupported'
  | 'supervisor-record-missing'
  | 'foreign-host'
  | 'process-not-found'
  | 'process-exited'
  | 'process-identity-mismatch'
  | 'process-identity-unverifiable'
  | 'binding-mismatch'
  | 'in-process-state-lost';

/** What became of a command: `delivered` means that the agent was handed it, not that it heeds it. */
export type Delivery = { delivered: true } | { delivered: false; reason: UndeliveredReason };

/**
 * - `agent-ended`: the agent went before the command reached it
 * - `agent-input-closed`: it has closed its input
 * - `agent-not-reading`: it does not read its input
 * - `outcome-unknown`: a part of the command is in its input, which it does not read now, and may read later
 * - `turn-not-ended`: it did not end its turn in time, so that the next one could not begin
 * - `not-supported`: it has no such command
 */
export type UndeliveredReason =
  'agent-ended' | 'agent-input-closed' | 'agent-not-reading' | 'outcome-unknown' | 'turn-not-ended' | 'not-supported';

/** A running agent that can be spoken to. */
export interface LiveAgent {
  /** Delivers one command; called one at a time, and returns within seconds. Never rejects for what the agent does. */
  command(command: AgentCommand): Promise<Delivery>;
}

/** Where a run's evidence goes. A rejection of either function stops the agent: nothing runs unrecorded. */
export interface AgentSink {
  /** Called once, before the agent is given its task. */
  started(process: ProcessIdentity, agent: LiveAgent): Promise<void>;
  /** Called in order, one call at a time; the agent is slowed down to the speed of this. */
  append(events: RunEventInput[]): Promise<void>;
  /** What a session of the agent offers; a failure to store it is not the agent's. */
  offered?(offer: SessionOffer): Promise<void>;
  /**
   * Asks people for the permission the agent requests; absent where no one can be asked. May take a day.
   *
   * @param signal aborted when the agent no longer waits for the response
   */
  decide?(question: AgentQuestion, signal: AbortSignal): Promise<AgentResponse>;
}

export interface AgentOutput {
  /** What the agent wrote to both streams. */
  bytes: number;
  /** What the sink was given: payloads as JSON, and a flat cost for each event. */
  persistedBytes: number;
  /** Whether `outputLimitBytes` was reached. */
  truncated: boolean;
  /** Lines and messages that were beyond what is read of an agent. */
  refusedLines: number;
}

/** The end of its work as reported by an agent, or by the protocol it speaks. */
export type ReportedResult = Omit<AgentResult, 'status'> & { status: CompletionStatus };

export interface AgentOutcome {
  /**
   * `exit`: by itself, also by a signal it was sent from elsewhere, or because its session was over, or because it wrote
   * more than may be stored.
   */
  ended: 'exit' | 'stopped' | 'timeout' | 'spawn-failed';
  /** The evidence of how it went: the exit code of the process, or the end of its session, whatever the process then does. */
  judgedBy: 'exit' | 'session';
  exitCode: number | null;
  signal: string | null;
  /** The last result the agent reported; one that cannot be understood is reported as `failed`. */
  result?: ReportedResult;
  /** Set when the summary of the result is not the agent's: it reported nothing. */
  silent?: true;
  /** What went wrong, as a sentence for a person; never contains secrets. */
  error?: string;
  /** The last lines of its standard error, at most 1,000 characters, without secrets; empty when there were none. */
  lastWords: string;
  output: AgentOutput;
  /** What was enforced of it; absent for an agent without a sandbox. */
  sandbox?: SandboxEvidence;
  durationMs: number;
}

/** Whether an agent can be started on this host, found out without giving it work. */
export interface ProviderProbe {
  ok: boolean;
  version?: string;
  /** What the agent itself has shown that it can do: capability ids. */
  capabilities?: string[];
  /** What this host confines a run of it to that has a sandbox preset. */
  sandbox?: HostSandbox;
  /** Sentences for a person. */
  diagnostics: string[];
}

/** What a check of an agent found, and what its session offers if there was one. */
export interface ProviderCheck {
  findings: CheckFinding[];
  offer?: SessionOffer;
}

/** Runs one family of agents on this host. */
export interface AgentProvider {
  readonly family: ProviderFamily;
  probe(agent: AgentConfig): Promise<ProviderProbe>;
  /** Starts the agent step by step as a launch does, without giving it work; absent where that is not possible. */
  check?: (agent: AgentConfig) => Promise<ProviderCheck>;
  /** Names of the agent's variables that it would not be given on this host, since they are not set. */
  missingVariables(agent: AgentConfig): string[];
  /** What prevents it from being started on this host, found without starting a program. */
  findings(agent: AgentConfig): LaunchFinding[];
  /** A name of what the agent is started from; another one means that it has to be probed again. */
  fingerprint(agent: AgentConfig): Promise<string>;
  /**
   * Starts the agent, feeds its events to the sink and resolves when it and everything it started are gone. Aborting
   * `signal` stops it (SIGTERM, then SIGKILL after `stopGraceMs`), or leaves it if it can be left and that is the reason.
   *
   * @throws whatever the sink rejected with, after the agent was ended
   * @throws AgentLeftError when it was left
   */
  run(dispatch: AgentDispatch, sink: AgentSink, signal: AbortSignal): Promise<AgentOutcome>;
  /**
   * Resumes an agent that another worker of this host has started with a `spoolDir`: `run`, without starting it.
   * One that has ended meanwhile is brought to its end. Absent where no agent outlives its worker.
   */
  reattach?(
    adopted: { dispatch: AgentDispatch; orphan: OrphanedAgent },
    sink: AgentSink,
    signal: AbortSignal,
  ): Promise<AgentOutcome | { refused: ReattachRefusal }>;
  /**
   * Ends what a dead worker left of an attempt: the recorded process with its group, if it still is that process, and
   * every process with the attempt's id in its environment.
   *
   * @returns the processes that were ended
   * @throws ProcessNotEndedError when something of it still runs: nothing may follow it in its worktree
   */
  endOrphans(attemptId: string, process: ProcessIdentity | undefined, graceMs: number): Promise<ProcessIdentity[]>;
}
