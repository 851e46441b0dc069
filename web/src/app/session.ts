import { queryOptions, useQuery } from '@tanstack/react-query';
import { setAccessKey } from '../api/access-key';
import { board, type Schema, unwrap } from '../api/client';
import { keys } from '../api/keys';
import { queryClient } from '../api/query-client';
import { disconnect } from '../live/connection';

export interface Session {
  status: Schema<'AuthStatus'>;
  /** Who the caller is; absent until it has signed in. */
  context: Schema<'AuthContext'> | undefined;
}

export const sessionQuery = queryOptions({
  queryKey: keys.auth,
  queryFn: async (): Promise<Session> => {
    const status = await unwrap(board.GET('/api/auth/status'));
    return { status, context: status.authenticated ? await unwrap(board.GET('/api/auth/context')) : undefined };
  },
});

export const useSession = (): Session | undefined => useQuery(sessionQuery).data;

/** Whether the caller has a permission. */
export function useMay(): (permission: string) => boolean {
  const permissions = useSession()?.context?.permissions ?? [];
  return (permission) => permissions.includes(permission);
}

/** Why an action is not the caller's; undefined when it is. */
export function useForbidden(): (permission: string) => string | undefined {
  const may = useMay();
  return (permission) => (may(permission) ? undefined : `This requires the permission ${permission}.`);
}

export async function signOut(): Promise<void> {
  disconnect();
  await unwrap(board.POST('/api/auth/logout')).catch(() => undefined);
  setAccessKey(undefined);
  queryClient.clear();
  location.assign('/login');
}
