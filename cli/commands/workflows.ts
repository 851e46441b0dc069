import { readFile } from 'node:fs/promises';
import { unwrap } from '../../clients/typescript/src';
import { UsageError } from '../failures';
import { oneLine, plain } from '../output/plain';
import { table } from '../output/table';
import { type AddCommands, count, firstPage, noteMore } from './command';
import { readRun, runLine, runText, stepToDecide, variablesOf, watchRun } from './workflow-runs';

const append = (value: string, former: string[]): string[] => [...former, value];

const readSource = (file: string): Promise<string> =>
  readFile(file, 'utf8').catch((error: unknown) => {
    throw new UsageError(`${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  });

/** `runboard workflow`: definitions, their runs, and the decisions that these wait for. */
export const addWorkflowCommands: AddCommands = (program, run) => {
  const group = program.command('workflow').description('Workflows: several steps with agents and gates');

  group
    .command('list')
    .description('List workflows')
    .option('--limit <number>', 'at most so many', count, 50)
    .action(
      run(async (session, { limit }: { limit: number }) => {
        const { list, hasMore } = await firstPage(
          session.board.GET('/api/workflows', { params: { query: { limit } }, signal: session.signal }),
        );
        const rows = list.map(({ id, version, steps, name }) => [id, version, steps, name]);
        session.print(list, () => table(['ID', 'VERSION', 'STEPS', 'NAME'], rows));
        if (hasMore) {
          noteMore(session);
        }
        return undefined;
      }),
    );

  group
    .command('show')
    .description('Show a workflow with its steps')
    .argument('<workflow>', 'id of the workflow')
    .action(
      run(async (session, id: string) => {
        const found = await unwrap(
          session.board.GET('/api/workflows/{id}', { params: { path: { id } }, signal: session.signal }),
        );
        const rows = found.steps.map((step) => [
          ...[step.id, step.type],
          'agent' in step ? step.agent : undefined,
          oneLine(('input' in step ? step.input : undefined) ?? '', 60),
        ]);
        session.print(
          found,
          () =>
            `${session.style('bold', oneLine(found.name, 200))}\n${found.id}  version ${found.version}\n` +
            `${found.description ? `\n${plain(found.description).trimEnd()}\n` : ''}\n${table(['STEP', 'TYPE', 'AGENT', 'INPUT'], rows)}`,
        );
        return undefined;
      }),
    );

  group
    .command('new')
    .description('Create a workflow from a file of YAML or JSON')
    .argument('<file>', 'its definition')
    .action(
      run(async (session, file: string) => {
        const { signal } = session;
        const yaml = await readSource(file);
        const { definition } = await unwrap(
          session.board.POST('/api/workflows/authoring/yaml', { body: { yaml }, signal }),
        );
        const created = await unwrap(session.board.POST('/api/workflows', { body: definition, signal }));
        session.print(created, () => `${created.workflowId}\n`);
        return undefined;
      }),
    );

  group
    .command('start')
    .description('Start a run of a workflow; with --watch exits with 10 when it ends without success')
    .argument('<workflow>', 'id of the workflow')
    .option('--task <task>', 'task that its steps work on')
    .option('--var <name=value>', 'value of a variable; may be repeated', append, [])
    .option('--idempotency-key <key>', 'the same key is the same run, however often it is started')
    .option('-w, --watch', 'print its steps until it ends')
    .action(
      run(
        async (
          session,
          id: string,
          {
            task,
            var: assignments,
            idempotencyKey,
            watch,
          }: { task?: string; var: string[]; idempotencyKey?: string; watch?: boolean },
        ) => {
          const context = variablesOf(assignments);
          const started = await unwrap(
            session.board.POST('/api/workflows/{id}/runs', {
              params: {
                path: { id },
                ...(idempotencyKey === undefined ? {} : { header: { 'Idempotency-Key': idempotencyKey } }),
              },
              body: {
                ...(task === undefined ? {} : { taskId: task }),
                ...(assignments.length === 0 ? {} : { context }),
              },
              signal: session.signal,
            }),
          );
          session.print(started, () => runLine(session, started));
          return watch ? watchRun(session, started.id) : undefined;
        },
      ),
    );

  group
    .command('runs')
    .description('List runs of workflows, newest first')
    .option('--workflow <workflow>', 'only of a workflow')
    .option('--limit <number>', 'at most so many', count, 50)
    .action(
      run(async (session, { workflow, limit }: { workflow?: string; limit: number }) => {
        const query = { limit, ...(workflow === undefined ? {} : { workflowId: workflow }) };
        const { list, hasMore } = await firstPage(
          session.board.GET('/api/workflows/runs', { params: { query }, signal: session.signal }),
        );
        const rows = list.map((each) => [each.id, each.status, each.workflowId, each.currentStep, each.createdAt]);
        session.print(list, () => table(['ID', 'STATUS', 'WORKFLOW', 'STEP', 'CREATED'], rows));
        if (hasMore) {
          noteMore(session);
        }
        return undefined;
      }),
    );

  group
    .command('status')
    .description('Show a run with its steps, and what it waits for')
    .argument('<run>', 'id of the run')
    .action(
      run(async (session, runId: string) => {
        const found = await readRun(session, runId);
        session.print(found, () => runText(session, found));
        return undefined;
      }),
    );

  group
    .command('watch')
    .description('Print the steps of a run until it ends; exits with 10 when it ends without success')
    .argument('<run>', 'id of the run')
    .action(run(async (session, runId: string) => watchRun(session, runId)));

  for (const [decision, description] of [
    ['approve', 'Approve the step of a run that waits for a person'],
    ['reject', 'Reject the step of a run that waits for a person'],
  ] as const) {
    group
      .command(decision)
      .description(description)
      .argument('<run>', 'id of the run')
      .argument('[step]', 'id of the step, the one that waits by default')
      .option('-m, --comment <text>', 'answer to its question, which later steps may use')
      .action(
        run(async (session, runId: string, step: string | undefined, { comment }: { comment?: string }) => {
          const path = { runId, stepId: await stepToDecide(session, runId, step) };
          const options = {
            params: { path },
            body: comment === undefined ? {} : { comment },
            signal: session.signal,
          };
          const decided = await unwrap(
            decision === 'approve'
              ? session.board.POST('/api/workflows/runs/{runId}/steps/{stepId}/approve', options)
              : session.board.POST('/api/workflows/runs/{runId}/steps/{stepId}/reject', options),
          );
          session.print(
            decided,
            () => `${runId}  ${path.stepId}  ${decision === 'approve' ? 'approved' : 'rejected'}\n`,
          );
          return undefined;
        }),
      );
  }

  group
    .command('cancel')
    .description('Cancel a run, with the agents of its steps')
    .argument('<run>', 'id of the run')
    .action(
      run(async (session, runId: string) => {
        const cancelled = await unwrap(
          session.board.POST('/api/workflows/runs/{runId}/cancel', {
            params: { path: { runId } },
            signal: session.signal,
          }),
        );
        session.print(cancelled, () => runLine(session, cancelled));
        return undefined;
      }),
    );

  group
    .command('resume')
    .description('Continue a failed run after the steps that succeeded, as a new run')
    .argument('<run>', 'id of the run')
    .option('--var <name=value>', 'value of a variable; may be repeated', append, [])
    .option('-w, --watch', 'print its steps until it ends')
    .action(
      run(async (session, runId: string, { var: assignments, watch }: { var: string[]; watch?: boolean }) => {
        const context = variablesOf(assignments);
        const resumed = await unwrap(
          session.board.POST('/api/workflows/runs/{runId}/resume', {
            params: { path: { runId } },
            body: assignments.length === 0 ? {} : { context },
            signal: session.signal,
          }),
        );
        session.print(resumed, () => runLine(session, resumed));
        return watch ? watchRun(session, resumed.id) : undefined;
      }),
    );

  group
    .command('graph')
    .description('Print the graph of a run as SVG, coloured by the state of its steps')
    .argument('<run>', 'id of the run')
    .action(
      run(async (session, runId: string) => {
        const svg = await unwrap(
          session.board.GET('/api/workflows/runs/{runId}/graph', {
            params: { path: { runId } },
            parseAs: 'text',
            signal: session.signal,
          }),
        );
        session.print({ runId, svg }, () => `${svg.trimEnd()}\n`);
        return undefined;
      }),
    );
};
