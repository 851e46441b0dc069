import type { Database } from '../port/collection';
import { openTogether } from '../port/open-together';
import { createAttachmentStore } from './attachment-store';
import { createTaskCheckpointStore } from './checkpoint-store';
import { createLineCommentStore } from './line-comment-store';
import { createReviewStore } from './review-store';
import { createTaskTransitionOutbox } from './task-transition-outbox';
import { createWorkProductStore } from './work-product-store';

/** Opens the stores of tasks, besides their files. */
export const openTaskStores = (database: Database) =>
  openTogether({
    attachments: createAttachmentStore(database),
    lineComments: createLineCommentStore(database),
    reviews: createReviewStore(database),
    taskCheckpoints: createTaskCheckpointStore(database),
    transitionOutbox: createTaskTransitionOutbox(database),
    workProducts: createWorkProductStore(database),
  });
