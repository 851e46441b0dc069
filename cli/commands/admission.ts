import { pages, unwrap } from '../../clients/typescript/src';
import type { components } from '../../clients/typescript/src/types';
import { UsageError } from '../failures';
import { oneLine } from '../output/plain';
import { stateStyle } from '../output/style';
import { table } from '../output/table';
import { type AddCommands, count, noteMore } from './command';

type Tree = components['schemas']['ExecutionTreeSummary'];
type Contributor = Tree['contributors'][number];

/** The nodes of a tree, each below its parent. */
function branches(contributors: Contributor[], line: (node: Contributor) => string): string[] {
  const known = new Set(contributors.map(({ nodeId }) => nodeId));
  const below = (parent: string | null, indent: string): string[] =>
    contributors
      .filter(({ parentNodeId }) => (parent === null ? !known.has(parentNodeId ?? '') : parentNodeId === parent))
      .flatMap((node) => [`${indent}${line(node)}`, ...below(node.nodeId, `${indent}  `)]);
  return below(null, '');
}

/** `runboard queue`, `runboard tree` and `runboard approve`. */
export const addAdmissionCommands: AddCommands = (program, run) => {
  program
    .command('queue')
    .description('List launches that wait for capacity')
    .option('--limit <number>', 'at most so many', count, 50)
    .action(
      run(async (session, { limit }: { limit: number }) => {
        const list = await unwrap(
          session.board.GET('/api/admission/queue', { params: { query: { limit } }, signal: session.signal }),
        );
        const rows = list.entries.map(({ id, state, taskId, agent, effectivePriority }) => [
          ...[id, state, taskId, agent],
          effectivePriority,
        ]);
        session.print(list, () => table(['ID', 'STATE', 'TASK', 'AGENT', 'PRIORITY'], rows));
        if (list.pagination.hasMore) {
          noteMore(session);
        }
        return undefined;
      }),
    );

  program
    .command('tree')
    .description('Show an execution tree: its runs, and what they use')
    .argument('<root>', 'id of the root objective')
    .action(
      run(async (session, rootObjectiveId: string) => {
        const tree = await unwrap(
          session.board.GET('/api/admission/tree/{rootObjectiveId}', {
            params: { path: { rootObjectiveId } },
            signal: session.signal,
          }),
        );
        const { style } = session;
        session.print(tree, () => {
          const head = `${tree.rootObjectiveId}  ${stateStyle(style, tree.state)}  ${tree.committed.runs} runs`;
          const nodes = branches(
            tree.contributors,
            ({ nodeId, edge, state }) => `${nodeId}  ${edge}  ${stateStyle(style, state)}`,
          );
          return `${[head, ...nodes].join('\n')}\n`;
        });
        if (tree.truncated) {
          session.note('The tree has more runs than are shown.');
        }
        return undefined;
      }),
    );

  program
    .command('approve')
    .description('List what agents ask for, or decide about one request')
    .argument('[approval]', 'id of the request; without it, those that wait are listed')
    .option('--reject', 'reject it instead')
    .option('--hash <hash>', 'hash of the action that was shown: another action is not decided')
    .option('-m, --note <text>', 'why')
    .action(
      run(
        async (
          session,
          approvalId: string | undefined,
          { reject, hash, note }: { reject?: boolean; hash?: string; note?: string },
        ) => {
          if (approvalId === undefined) {
            const read = (cursor: string | undefined) =>
              session.board.GET('/api/run-approvals', {
                params: { query: { status: 'pending', limit: 200, ...(cursor === undefined ? {} : { cursor }) } },
                signal: session.signal,
              });
            const waiting: components['schemas']['RunApproval'][] = [];
            for await (const page of pages(read)) {
              waiting.push(...page);
            }
            const rows = waiting.map((each) => [
              ...[each.id, each.riskClass, each.taskId],
              each.actionHash.replace(/^sha256:/, '').slice(0, 12),
              oneLine(each.action, 60),
            ]);
            session.print(waiting, () => table(['ID', 'RISK', 'TASK', 'HASH', 'ACTION'], rows));
            return undefined;
          }
          const path = { approvalId };
          const approval = await unwrap(
            session.board.GET('/api/run-approvals/{approvalId}', { params: { path }, signal: session.signal }),
          );
          const { actionHash: expectedActionHash, revision: expectedRevision } = approval;
          if (hash !== undefined && !expectedActionHash.replace(/^sha256:/, '').startsWith(hash)) {
            throw new UsageError(`The request is for another action by now: ${oneLine(approval.action, 100)}`);
          }
          const decided = await unwrap(
            session.board.POST('/api/run-approvals/{approvalId}/decision', {
              params: { path },
              body: {
                decision: reject === true ? 'rejected' : 'approved',
                expectedRevision,
                expectedActionHash,
                ...(note === undefined ? {} : { note }),
              },
              signal: session.signal,
            }),
          );
          session.print(decided, () => `${approvalId}  ${decided.status}  ${oneLine(decided.action, 100)}\n`);
          return undefined;
        },
      ),
    );
};
