import { defineSignal } from '@temporalio/workflow';

export const schedulerId = 'admission/scheduler';

/** Something was enqueued or released: look again. */
export const look = defineSignal('look');
