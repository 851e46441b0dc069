import { endSharedServer } from './stack/shared-server';

/** Stops the shared Temporal server and removes its files. */
export default function globalTeardown(): Promise<void> {
  return endSharedServer();
}
