/** Imported first by each entry of the service, and preloaded by its parts and their threads. */
import './compile-cache/install';
import { releaseWhenIdle } from './parts/idle-memory';

releaseWhenIdle();
