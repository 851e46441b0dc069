/** Imported first by each entry of the service that runs on, and preloaded by its parts and their threads. */
import '../compile-cache/install';
import { recordNoPromiseStacks } from '../../temporal/workers/promise-stacks';
import { releaseWhenIdle } from './idle-memory';

recordNoPromiseStacks();
releaseWhenIdle();
