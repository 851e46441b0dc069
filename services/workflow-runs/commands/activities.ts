import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { compact } from '../../../platform/json/compact';
import { withHeartbeat } from '../../../platform/temporal/heartbeat';
import { cut } from '../../../platform/text/cut';
import { maxJsonOutput } from '../graph/graph';
import type { StageMessageStore } from '../runs/execution/turns';
import { assertOpen } from '../runs/open-run';
import type { RunStore } from '../runs/store';
import type { SchemaChecker } from '../schemas/schema-checker';
import { GitFailedError } from '../snapshots/git';
import { WorkspaceTooLargeError } from '../snapshots/snapshot';
import type { Snapshots } from '../snapshots/snapshots';
import type { CommandSandbox } from './command-sandbox';
import { confine } from './confine';
import { commandFailed, type CommandInput, type CommandResult } from './messages';
import type { CommandResultStore } from './result-store';
import { type Captured, type ProgramResult, runProgram } from './run-program';
import type { Workspaces } from './workspace';

/** The part of an output that a run stores among its values; 200,000 bytes of it are in the turns of its stage. */
const storedCharacters = 8_000;
const reasonCharacters = 500;

const refused = (message: string): ApplicationFailure => ApplicationFailure.nonRetryable(message, commandFailed);

export interface CommandDependencies {
  runs: RunStore;
  turns: StageMessageStore;
  workspaces: Workspaces;
  commandResults: CommandResultStore;
  schemas: SchemaChecker;
  snapshots: Pick<Snapshots, 'prepare' | 'commit'>;
  now: () => Date;
  /** Absent where commands are not run. */
  sandbox?: CommandSandbox | undefined;
}

/** What runs with commands need of the hosts that run them. */
export function createCommandActivities(dependencies: CommandDependencies) {
  const { runs, turns, workspaces, commandResults, schemas, snapshots, now, sandbox } = dependencies;

  /** The commit of a workspace, or why there is none: a run goes on without. */
  async function snapshotOf(runId: string, stageId: string, workspace: string): Promise<CommandResult['snapshot']> {
    try {
      return await snapshots.commit(runId, workspace, `${stageId} of workflow run ${runId}`);
    } catch (error) {
      if (error instanceof WorkspaceTooLargeError || error instanceof GitFailedError) {
        return { problem: error.message };
      }
      throw error;
    }
  }

  /** Runs the program, and stores how it has ended before anything else is done. */
  async function runOnce(
    input: CommandInput,
    host: { sandbox: CommandSandbox; workspace: string },
  ): Promise<CommandResult> {
    const { runId, stageId, attempt } = input;
    const ended = await confined(input, host);
    const result = await fitting(resultOf(ended), { schema: input.schema, stdout: ended.stdout, schemas });
    await turns.put(runId, stageId, [{ kind: 'tool', tools: [toolUse(input, ended)] }]);
    await commandResults.put(runId, stageId, { attempt, result, uncommitted: true, at: now() });
    return result;
  }

  return {
    /** Gives the run a workspace on this host, unless it has one; returns the task queue of its host. */
    assignWorkspace: ({ runId }: { runId: string }): Promise<string> => workspaces.assign(runId),

    /**
     * Runs a program of a stage in the run's workspace, in a sandbox. One that has ended is not run again when this is repeated; one
     * whose process died with the service is.
     *
     * @throws ApplicationFailure `COMMAND` when it cannot be started
     */
    async runCommand(input: CommandInput): Promise<CommandResult> {
      const { runId, stageId, attempt } = input;
      const done = await commandResults.get(runId, stageId, attempt);
      if (done && done.uncommitted !== true) {
        return done.result;
      }
      const run = await runs.get(runId);
      if (!run) {
        throw refused('The run does not exist.');
      }
      assertOpen(run);
      if (!sandbox) {
        throw refused('Commands are not run here: WORKFLOW_RUNS_SANDBOX_PRESETS is not set.');
      }
      const workspace = await workspaces.open(runId);
      if (run.repository) {
        await snapshots.prepare(runId, workspace, run.repository).catch((error: unknown) => {
          throw error instanceof GitFailedError ? refused(error.message) : error;
        });
      }
      const ended = done?.result ?? (await runOnce(input, { sandbox, workspace }));
      const result = { ...ended, ...compact({ snapshot: await snapshotOf(runId, stageId, workspace) }) };
      await commandResults.put(runId, stageId, { attempt, result, uncommitted: false, at: now() });
      return result;
    },
  };
}

async function confined(
  { timeoutMs, ...input }: CommandInput,
  host: { sandbox: CommandSandbox; workspace: string },
): Promise<ProgramResult> {
  try {
    const { program, directory, environment, sandbox } = await confine(input, host);
    try {
      return await withHeartbeat((signal) => runProgram(program, { directory, environment, timeoutMs, signal }));
    } finally {
      await sandbox.close();
    }
  } catch (error) {
    Context.current().cancellationSignal.throwIfAborted();
    throw refused(error instanceof Error ? error.message : String(error));
  }
}

function resultOf({ exitCode, signal, timedOut, stdout, stderr }: ProgramResult): CommandResult {
  const output = cut(stdout.text.trimEnd(), storedCharacters);
  const failure = timedOut
    ? 'It was ended when its time was over.'
    : exitCode === null
      ? `It was ended by ${signal ?? 'a signal'}.`
      : `It ended with exit code ${exitCode}.`;
  const last = stderr.text.trim().slice(-reasonCharacters);
  return {
    exitCode,
    output,
    ...(exitCode === 0 ? {} : { failure: last === '' ? failure : `${failure} ${last}` }),
  };
}

/** The result of a command that has a schema, with its output as a value; it counts as failed when that does not fit. */
async function fitting(
  result: CommandResult,
  { schema, stdout, schemas }: { schema?: object | undefined; stdout: Captured; schemas: SchemaChecker },
): Promise<CommandResult> {
  if (schema === undefined || result.failure !== undefined) {
    return result;
  }
  if (stdout.bytes > maxJsonOutput) {
    return { ...result, failure: `Its output has more than ${maxJsonOutput} bytes.` };
  }
  const fit = await schemas.check(schema, stdout.text);
  return 'problems' in fit
    ? { ...result, failure: `Its output does not fit the schema: ${fit.problems.join('; ')}` }
    : { ...result, value: fit.value };
}

const toolUse = (
  { stageId, argv, attempt }: CommandInput,
  { exitCode, timedOut, stdout, stderr, durationMs }: ProgramResult,
) => ({
  id: `${stageId}/${attempt}`,
  tool_name: 'command',
  input: JSON.stringify({ argv }),
  result: JSON.stringify({
    exit_code: exitCode,
    ...(timedOut && { timed_out: true }),
    ...{ stdout: stdout.text, stdout_bytes: stdout.bytes, stderr: stderr.text, stderr_bytes: stderr.bytes },
  }),
  is_error: exitCode !== 0,
  duration_ms: durationMs,
});

export type CommandActivities = ReturnType<typeof createCommandActivities>;
