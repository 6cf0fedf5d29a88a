/** `32768` → `32,768`: how names of rows and their figures write numbers. */
export function grouped(value: number): string {
  return Math.round(value).toLocaleString("en-US");
}
