import type { WorkspaceRegistry } from '../../../stores/identity/workspace-registry';
import { type ApiUnderTest, type CallOptions, type Reply, startWholeTestApi } from '../api-under-test';

/** Workspaces of a test besides `local`. */
export const [alpha, beta] = ['ws-aaaaaaaaaaaa', 'ws-bbbbbbbbbbbb'] as const;

export const registryOf = (...ids: string[]): WorkspaceRegistry => ({
  exists: async (id) => ids.includes(id),
  list: async () => ids,
});

/** A call of an administrator of the installation in one workspace. */
export type CallIn = (
  workspaceId: string,
  ...call: [method: string, path: string, options?: CallOptions]
) => Promise<Reply>;

/** An API with two workspaces besides `local`. */
export async function startWorkspaces(): Promise<{ board: ApiUnderTest; callIn: CallIn }> {
  const board = await startWholeTestApi({}, { registry: registryOf(alpha, beta) });
  return {
    board,
    callIn: (workspaceId, method, path, options = {}) =>
      board.call(method, path, { ...options, headers: { ...options.headers, 'X-Board-Workspace': workspaceId } }),
  };
}
