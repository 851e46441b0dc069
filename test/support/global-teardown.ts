import { endSharedServer } from './shared-server';

/** Stops the shared Temporal server and removes its files. */
export default function globalTeardown(): Promise<void> {
  return endSharedServer();
}
