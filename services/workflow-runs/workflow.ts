// The workflows of this service: the entry of its bundle.
export { sessionGeneration } from './sessions/workflow';
