import { useQueries } from '@tanstack/react-query';
import { board, type Schema, unwrap } from '../../api/client';
import { keys } from '../../api/keys';
import { count, number } from '../../ui/figures';
import { Badge, Id, Panel } from '../../ui/parts';
import { CancelButton } from './cancel';
import s from './queue.module.css';

type Tree = Schema<'ExecutionTreeSummary'>;

const maxTrees = 20;
const stateTone = { open: 'blue', paused: 'amber', cancelled: 'red' } as const;
const indents = [s.depth0, s.depth1, s.depth2, s.depth3, s.depth4];

/** A tree as nested bars: each launch is indented under the one that started it. */
function TreeView({ tree }: { tree: Tree }) {
  return (
    <li className={s.tree}>
      <header className="row wrap">
        <Id id={tree.rootObjectiveId} />
        <Badge tone={stateTone[tree.state]}>{tree.state}</Badge>
        <span className="meta grow num">
          {count(tree.descendants, 'descendant')}, {number(tree.reserved.runs)} running, {number(tree.queued)} queued
        </span>
        {tree.state === 'cancelled' ? null : (
          <CancelButton kind="tree" id={tree.rootObjectiveId} what={tree.rootObjectiveId} />
        )}
      </header>
      <ul>
        {tree.contributors.map(({ nodeId, depth, edge, state, source }) => (
          <li key={nodeId} className={`${s.node} ${indents[Math.min(depth, indents.length - 1)] ?? ''}`}>
            <span className={`${s.bar} ${s[state] ?? ''}`}>
              {edge} · {source} · {state}
            </span>
          </li>
        ))}
      </ul>
      {tree.policies.map(({ policy, used, reserved, remaining, blocksNextLaunch }) => (
        <p key={policy} className="meta num">
          {policy}: {number(used)} used, {number(reserved)} reserved, {number(remaining)} remain
          {blocksNextLaunch ? ' (blocks the next launch)' : ''}
        </p>
      ))}
    </li>
  );
}

/** The execution trees of what waits and runs. */
export function Trees({ roots }: { roots: readonly string[] }) {
  const trees = useQueries({
    queries: roots.slice(0, maxTrees).map((rootObjectiveId) => ({
      queryKey: [...keys.queue, 'tree', rootObjectiveId],
      queryFn: () =>
        unwrap(board.GET('/api/admission/tree/{rootObjectiveId}', { params: { path: { rootObjectiveId } } })),
    })),
    combine: (results) => results.flatMap(({ data }) => (data ? [data] : [])),
  });
  return trees.length === 0 ? null : (
    <Panel title="Execution trees" flush>
      <ul className="rows">
        {trees.map((tree) => (
          <TreeView key={tree.rootObjectiveId} tree={tree} />
        ))}
      </ul>
    </Panel>
  );
}
