package plot

import "image"

// Image returns the pixels that PNG encodes.
func (f *Figure) Image() (image.Image, error) { return f.image() }
