/** A preview is requested once and not stored; the id only has to be new. */
export const launchPreviewId = (unique: string): string => `preview/${unique}`;
