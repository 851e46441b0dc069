import { defineSignal } from '@temporalio/workflow';

export const schedulerId = 'admission/scheduler';

/** Something was enqueued or released: inspect the queue again. */
export const look = defineSignal('look');
