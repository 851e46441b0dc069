import type { WorkflowContext } from '../../context';

/** What the endpoints of admission use. */
export type AdmissionContext = Pick<
  WorkflowContext,
  | 'admissionLauncher'
  | 'admissionRequests'
  | 'hosts'
  | 'now'
  | 'queue'
  | 'reservations'
  | 'settings'
  | 'telemetry'
  | 'trees'
>;
