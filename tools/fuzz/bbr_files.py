"""Small files of the formats of BBR, BMR and BXR."""

from __future__ import annotations

FILES = {
    "own.model": b"Bayesian Binary Regression ver 2\ntfMethod 0\nidfMethod 0\ncosineNormalize 1\nngroups 1\n"
    b"featRestrict 4 17\nidf 1.5 2\nendofheader\nmodelname a b\ntopic t\nmodelType 1 1 0 0 \ndesign 0\ntopicFeats 4\n"
    b"beta 1 2.5 3\nthreshold 0.5\nendoftopic\n",
    "bmr.model": b"Bayesian Polytomous Regression model file ver 2.5\nclasses 1 2\ntfMethod 0\nidfMethod 0\n"
    b"cosineNormalize 0\n 4 17\nmodelname \nnDesignParams 3\nmodelType 1 1 0 0 0 \ndesign 0\ntopicFeats 4 17\n"
    b"endofheader\nbetaClassSparse 1 4:1.5 0:2\nbetaClassSparse 2\n",
    "sparse.model": b"Sparse Model File ver 1\nm 1 4 1.5\nm 2 @constant -1\nm @reference 3\n",
    "priors.txt": b"topic a\n# words\n0 0 inf\nclass 2 17 -1.5 0.25 ABS -1\nendoftopic\ntopic b\nendoftopic\n",
    "own.train": b"# UID: a\n1 4:1.6931 46:2.0986e-3\n#ID: b\n-1 31:1 38:123456789012345678901234567890\n",
    "labels": b"d1 m c\nd2 @allothermodels c\n",
    "scores.results": b"d1 M C 0.5 pred:C true:@unknown \n M C 1.25 \n",
    "dense.results": b"1 0.25 0.75 2\n2 0.5 0.5 1\n",
}
