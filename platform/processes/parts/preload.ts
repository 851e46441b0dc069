/** Imported first by each entry of the service that runs on, and preloaded by its parts and their threads. */
import '../compile-cache/install';
import { tuneWorkflowThread } from '../../temporal/workers/workflow-thread';
import { releaseWhenIdle } from './idle-memory';

tuneWorkflowThread();
releaseWhenIdle();
