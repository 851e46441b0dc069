import type { Database } from '../../../stores/port/collection';

/** Opens the store of a test: an empty one each time. */
export type OpenStore = () => Promise<Database>;
