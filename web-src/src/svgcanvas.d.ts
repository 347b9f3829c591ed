declare module "svgcanvas" {
  export class Context {
    constructor(options: { width: number; height: number });
    getSerializedSvg(fixNamedEntities?: boolean): string;
  }
}
declare module "*.css";
