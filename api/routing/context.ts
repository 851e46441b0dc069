import type { ApiContext } from '../context';

/** What the endpoints of routing call. */
export type RoutingContext = Pick<ApiContext, 'routing' | 'traces' | 'board'>;
