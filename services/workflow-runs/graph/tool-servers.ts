import type { Graph } from './graph';

/** The tool servers whose tools the nodes of a graph call or offer. */
export const serversOf = ({ nodes }: Graph): string[] => [
  ...new Set(
    Object.values(nodes).flatMap(({ tool, promptTools }) => [
      ...(tool ? [tool.server] : []),
      ...(promptTools?.offers ?? []).map(({ server }) => server),
    ]),
  ),
];
