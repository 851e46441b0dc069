import { instance } from '@viz-js/viz';
import type { Graph, GraphNode } from '../../graph/graph';
import { refuse } from '../../http/errors';
import type { RunRecord, Stage } from '../run';

const shapes: Record<GraphNode['kind'], string> = {
  start: 'Mdiamond',
  exit: 'Msquare',
  fail: 'octagon',
  prompt: 'box',
  human: 'hexagon',
  decision: 'diamond',
  parallel: 'component',
  join: 'tripleoctagon',
  wait: 'ellipse',
  webhook: 'cds',
  command: 'component',
  map: 'box3d',
  child: 'folder',
  agent: 'tab',
  tool: 'cds',
  launch: 'tab',
  write: 'note',
};

const colours: Record<Stage['status'], string> = {
  pending: '#e5e7eb',
  running: '#bfdbfe',
  completed: '#bbf7d0',
  failed: '#fecaca',
  cancelled: '#e5e7eb',
};

/** A family whose widths Graphviz knows, with what browsers have in its place. */
const fontname = 'Helvetica,Arial,sans-serif';
const line = '#6b7280';

/**
 * The graph of a run as SVG. It is drawn from what the graph means and not from its text, whose attributes could hold
 * links and pictures.
 *
 * @throws AppError 502 when it cannot be drawn
 */
export async function drawGraph(graph: Graph, { stages }: Pick<RunRecord, 'stages'>): Promise<string> {
  const statuses = new Map(
    stages.filter(({ parent }) => parent === undefined).map(({ dot_id, status }) => [dot_id, status]),
  );
  const viz = await instance();
  const drawn = viz.render(
    {
      directed: true,
      nodeAttributes: { fontname, fontsize: 12, color: line, style: 'filled', fillcolor: '#ffffff' },
      edgeAttributes: { fontname, fontsize: 11, color: line, arrowsize: 0.7 },
      nodes: Object.values(graph.nodes).map(({ id, label, kind }) => {
        const status = statuses.get(id);
        return { name: id, attributes: { label, shape: shapes[kind], ...(status && { fillcolor: colours[status] }) } };
      }),
      edges: graph.edges.map(({ from, to, label }) => ({
        tail: from,
        head: to,
        // With room beside it: the line of the edge touches the box of its label.
        attributes: { label: label ? ` ${label} ` : '' },
      })),
    },
    { format: 'svg' },
  );
  if (drawn.status === 'success') {
    return drawn.output;
  }
  throw refuse(502, 'The graph cannot be drawn.');
}
