import type { OpenArea } from './context';

/** The areas of this service: the map of its API. */
export const areas: readonly OpenArea[] = [];
