import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query';
import { toast } from '../ui/toast';
import { explain, isRefusal } from './client';

/** Receives that a request was refused because its caller is not signed in any more. */
let onSignedOut: () => void = () => undefined;
export const whenSignedOut = (listener: () => void): void => {
  onSignedOut = listener;
};

const notice = (error: unknown): void => {
  if (isRefusal(error, 401)) {
    onSignedOut();
  }
};

/** What was read stays until the feed reports a change: nothing polls. */
export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: Infinity,
      gcTime: 10 * 60_000,
      refetchOnWindowFocus: false,
      refetchOnReconnect: false,
      retry: (count, error) => count < 2 && !isRefusal(error, 400, 401, 403, 404, 409, 410, 413, 422, 429),
    },
    mutations: { retry: false },
  },
  queryCache: new QueryCache({ onError: notice }),
  mutationCache: new MutationCache({
    onError: (error, _variables, _context, mutation) => {
      notice(error);
      if (mutation.meta?.silent !== true) {
        toast(explain(error), 'red');
      }
    },
  }),
});
